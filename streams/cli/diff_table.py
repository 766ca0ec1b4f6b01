"""The difference of two leaderboards as a table on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from streams.cli.render import GAP, Column, stdout_console, table_width, wrap
from streams.cli.terminal import safe
from streams.reports.diff_text import ARROW, HEADINGS, REAL, describe_diff, diff_cells, diff_notes

if TYPE_CHECKING:
    from rich.console import Console

    from streams.offline.diff import RankingDiff
    from streams.reports.board_diff import BoardDiff

NARROWEST_NAME = 8  # characters


def print_diff(result: RankingDiff) -> None:
    """Print one table per campaign, and the campaigns that could not be compared."""
    console = stdout_console()
    for number, diff in enumerate(result.campaigns):
        if number:
            console.print()
        _print(console, diff)
    for sentence in result.unmatched:
        _print_sentence(console, sentence)


def _print(console: Console, diff: BoardDiff) -> None:
    arrow = "->" if console.options.ascii_only else ARROW
    width = table_width(console)
    _print_sentence(console, describe_diff(diff, arrow=arrow))
    texts = list(zip(*diff_cells(diff, arrow=arrow), strict=True)) or [()] * len(HEADINGS)
    columns = [
        Column(heading, [Text(safe(cell)) for cell in cells]) for heading, cells in zip(HEADINGS, texts, strict=True)
    ]
    for cell in columns[HEADINGS.index("change")].cells:
        cell.stylize("bold" if cell.plain.startswith(REAL) else "dim")
    names = columns[HEADINGS.index("system")]
    left = width - sum(column.width + len(GAP) for column in columns if column is not names)
    for name in names.cells:
        name.truncate(max(left, NARROWEST_NAME), overflow="ellipsis")
    gap = Text(GAP, no_wrap=True, overflow="crop")
    for line in map(gap.join, zip(*(column.padded() for column in columns), strict=True)):
        line.rstrip()
        console.print(line, soft_wrap=True)
    for note in diff_notes(diff):
        _print_sentence(console, note)


def _print_sentence(console: Console, sentence: str) -> None:
    for line in wrap(sentence, table_width(console)):
        console.print(Text(line), soft_wrap=True)
