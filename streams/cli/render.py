"""Leaderboards as a table with whiskers on a common axis, or as a JSON object."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from io import TextIOWrapper
from math import floor
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from rich.console import Console
from rich.text import Text

from streams.cli.terminal import safe
from streams.core.ranking.ranges import Z_95
from streams.reports.notes import APART, describe_trouble, legend
from streams.reports.report import shorten_names
from streams.reports.score_axis import ScoreAxis, ScoreText, has_judge_ranges, judge_range
from streams.reports.score_axis import rank_range as rank_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import ConsoleOptions, RenderResult

    from streams.wire.events import Leaderboard, Row

# Colours that are readable on a light and on a dark background. Neighbouring clusters differ.
CLUSTER_COLOURS = ("color(32)", "color(166)")
GAP = "  "
NARROWEST_PLOT = 10  # characters
WIDEST_TABLE = 120  # characters


class _Marks(NamedTuple):
    """The characters of a table. The key of `lines` is the content of the two halves of a cell.

    0 is empty, 1 is a part of the 95 % interval, 2 is a part of one deviation.
    """

    lines: Mapping[tuple[int, int], str]
    dot: str
    zero: str
    rule: str
    dashes: str
    sign: str


_HALVES = [(left, right) for left in range(3) for right in range(3)]
_UNICODE = _Marks(dict(zip(_HALVES, " ╶╺╴─╼╸╾━", strict=True)), "●", "┊", "─", "╌", "±")
_ASCII = _Marks({halves: " -="[max(halves)] for halves in _HALVES}, "o", ":", "-", "- ", "+-")


def _half_cell(axis: ScoreAxis, score: float, width: int) -> int:
    """Return the half cell of a score, of 2 * width. It may lie outside the axis."""
    return floor(axis.share(score) * 2 * width)


def _ticks(axis: ScoreAxis, width: int) -> str:
    """Return the ends of the axis and, if there is room, its origin.

    >>> _ticks(ScoreAxis(-1.0, 1.0), 11)
    '-1   0   +1'
    """
    low, high, origin = map(axis.label, (axis.low, axis.high, axis.origin))
    line = low.ljust(width - len(high)) + high
    first = _half_cell(axis, axis.origin, width) // 2 - len(origin) // 2
    last = first + len(origin)
    return f"{line[:first]}{origin}{line[last:]}" if len(low) < first and last < width - len(high) else line


def _whiskers(axis: ScoreAxis, row: Row, width: int, marks: _Marks) -> Text:
    """Draw a score: a dot, a thick line for one deviation and a thin line for 95 %."""
    halves = bytearray(2 * width)
    for weight, reach in ((1, Z_95), (2, 1.0)):
        first = _half_cell(axis, row.score - reach * row.deviation, width)
        last = _half_cell(axis, row.score + reach * row.deviation, width)
        for half in range(max(first, 0), min(last + 1, len(halves))):
            halves[half] = weight
    line = "".join(map(marks.lines.__getitem__, zip(halves[::2], halves[1::2], strict=True)))
    zero = _half_cell(axis, axis.origin, width) // 2
    if 0 <= zero < width and line[zero] == " ":
        line = f"{line[:zero]}{marks.zero}{line[zero + 1 :]}"
    dot = min(max(_half_cell(axis, row.score, width) // 2, 0), width - 1)
    text = Text(f"{line[:dot]}{marks.dot}{line[dot + 1 :]}")
    text.stylize(CLUSTER_COLOURS[(row.cluster - 1) % len(CLUSTER_COLOURS)])
    text.stylize("bold", dot, dot + 1)
    text.highlight_words([marks.zero], "dim default")
    return text


@dataclass(frozen=True)
class Column:
    """A heading and one cell per row, aligned to one side."""

    heading: str
    cells: Sequence[Text]
    side: Literal["left", "right"] = "left"

    @property
    def width(self) -> int:
        """Return the width of the widest cell."""
        return max([len(self.heading), *(cell.cell_len for cell in self.cells)])

    def padded(self) -> list[Text]:
        """Return the heading and the cells, padded to the same width."""
        texts = [Text(self.heading, style="dim"), *(cell.copy() for cell in self.cells)]
        for text in texts:
            text.align(self.side, self.width)
        return texts


@dataclass(frozen=True, kw_only=True)
class LeaderboardTable:
    """A leaderboard, with a plot if there is room. A rule and a new colour separate clusters.

    The rule is solid if it holds for other judges too, and dashed otherwise.

    The layout is our own because the table of rich takes twice as long, and a live table is drawn often.
    """

    leaderboard: Leaderboard
    width: int
    axis: ScoreAxis | None = None
    ruled: bool = True
    beside: Sequence[Column] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        marks, rows = _ASCII if options.ascii_only else _UNICODE, self.leaderboard.rows
        before = [
            Column("rank", [Text(str(row.rank), style="bold") for row in rows], "right"),
            Column("range", [Text(rank_range(row.rank_low, row.rank_high)) for row in rows]),
        ]
        if has_judge_ranges(rows):
            before.append(Column("others", [Text(judge_range(row), style="dim") for row in rows]))
        form = ScoreText.of(self.leaderboard)
        scores = [Text.assemble(form.score(row), (f" {marks.sign} {form.deviation(row)}", "dim")) for row in rows]
        after = [Column(f"{form.heading} {marks.sign} dev.", scores, "right")]
        left = self.width - sum(column.width + len(GAP) for column in (*before, *after, *self.beside))
        short = shorten_names([safe(row.system) for row in rows], max(left, 1), whole=True)
        names = Column("system", [Text(short[safe(row.system)], style="bold") for row in rows])
        for name in names.cells:  # wide characters, and names that are equal in the room there is
            name.truncate(max(left, 1), overflow="ellipsis")
        plot = left - names.width - len(GAP)
        if plot >= NARROWEST_PLOT:
            axis = self.axis or ScoreAxis.of(self.leaderboard)
            after.append(Column(_ticks(axis, plot), [_whiskers(axis, row, plot, marks) for row in rows]))
        columns = (*before, names, *after, *self.beside)
        gap = Text(GAP, no_wrap=True, overflow="crop")
        heading, *lines = map(gap.join, zip(*(column.padded() for column in columns), strict=True))
        yield heading
        yield self._rule(marks.rule)
        island = 1
        for line, row in zip(lines, rows, strict=True):
            if row.island != island:
                yield from self._separate(marks)
            elif self.ruled and row.line_above is not None:
                yield self._rule(marks.rule if row.line_above == "judges" else marks.dashes)
            yield line
            island = row.island

    def _rule(self, dash: str) -> Text:
        return Text((dash * self.width)[: self.width], style="dim")

    def _separate(self, marks: _Marks) -> Iterator[Text]:
        """Separate two islands: the ranks begin again."""
        yield Text()
        yield Text(APART, style="dim")
        yield self._rule(marks.rule)


def extra_lines(rows: Sequence[Row], *, ruled: bool = True) -> int:
    """Return the number of lines between the rows of a table."""
    islands = len({row.island for row in rows})
    return 3 * max(islands - 1, 0) + sum(row.line_above is not None for row in rows) * ruled


def print_board(console: Console, board: Leaderboard, *, width: int, outlook: bool = True) -> None:
    """Print a table with its notes."""
    console.print(LeaderboardTable(leaderboard=board, width=width))
    for note in board_notes(board, width=width, ascii_only=console.options.ascii_only, outlook=outlook):
        console.print(note, width=width)


def board_notes(board: Leaderboard, *, width: int, ascii_only: bool = False, outlook: bool = True) -> list[Text]:
    """Return the lines below a table: the legend, then what to be careful about."""
    marks = _ASCII if ascii_only else _UNICODE
    explained = legend(board, solid=marks.rule * 2, dashed=(marks.dashes * 2)[: 3 if ascii_only else 2])
    notes = [Text(line, style="dim") for line in wrap(explained, width)]
    notes += (Text(line) for each in describe_trouble(board, outlook=outlook) for line in wrap(f"- {each}", width))
    return notes


def wrap(sentence: str, width: int) -> list[str]:
    """Return a sentence as lines of this width. Those after the first are indented."""
    return textwrap.wrap(safe(sentence), max(width, 20), subsequent_indent=GAP, break_on_hyphens=False)


def as_json(leaderboards: Sequence[Leaderboard]) -> str:
    """Return the JSON object that every command that ranks prints with `--json`.

    >>> as_json([])
    '{"campaigns":[]}'
    """
    return msgspec.json.encode({"campaigns": leaderboards}).decode()


def stdout_console() -> Console:
    """Return a console on standard output. Colours are for terminals only; unknown characters become `?`."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False, force_terminal=None if sys.stdout.isatty() else False)


def table_width(console: Console) -> int:
    """Return the width of a table: that of the terminal, with a limit."""
    return min(console.width, WIDEST_TABLE)
