"""Rankings as CSV, Markdown, HTML pages and plots."""

from __future__ import annotations

import csv
import io
import re
import shlex
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote

import click
import msgspec
from click.core import ParameterSource

from streams.files import replacing
from streams.formats.input.spreadsheets import escape_formula
from streams.wire.events import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from streams.reports import Report
    from streams.reports.effects import ControlledRanking
    from streams.wire.events import Leaderboard

PAGES = (".html", ".htm")
PICTURES = (".png", ".svg", ".pdf")
LONGEST_PART = 60  # characters of a tag or value in the name of a file
_MARKDOWN = str.maketrans({each: f"\\{each}" for each in "\\`*_[]<>|~"} | {"\n": " ", "\r": " "})


def as_csv(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table as CSV. Text that a spreadsheet would run as a formula is escaped.

    >>> as_csv(["a", "b"], [["=1+1", -0.5], ["x,y", None]])
    'a,b\r\n\'=1+1,-0.5\r\n"x,y",\r\n'
    """
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(headings)
    table.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return escape_formula(value)
    if isinstance(value, tuple):
        return escape_formula("; ".join(value)) if value else ""
    return "yes" if value is True else "no" if value is False else value


def structs_as_csv(kind: type[msgspec.Struct], rows: Iterable[msgspec.Struct]) -> str:
    """Return rows of one type as CSV, one column per field."""
    return as_csv(kind.__struct_fields__, map(msgspec.structs.astuple, rows))


def leaderboards_as_csv(
    boards: Sequence[Leaderboard],
    others: Sequence[Leaderboard] = (),
    *,
    column: tuple[str, str, str] = ("judges", "all", "without failing"),
) -> str:
    """Return the rows of leaderboards as CSV, each with its campaign, model and scale.

    If there are leaderboards of categories, two more columns have the tag and the value. If there are `others`, a last
    column tells them apart: its heading, its value for the first ones and for the others.
    """
    by_category = any(board.category for board in boards)
    headings = ("campaign", "model", *Row.__struct_fields__, "scale", *(("tag", "value") if by_category else ()))
    rows, more = (
        [
            (board.campaign, board.model, *msgspec.structs.astuple(row), board.scale, *category)
            for board in each
            for category in (_category_cells(board) if by_category else (),)
            for row in board.rows
        ]
        for each in (boards, others)
    )
    if not others:
        return as_csv(headings, rows)
    return as_csv((*headings, column[0]), [*((*row, column[1]) for row in rows), *((*row, column[2]) for row in more)])


def _category_cells(board: Leaderboard) -> tuple[str | None, str | None]:
    return (None, None) if board.category is None else (board.category.tag, board.category.value)


def leaderboards_as_markdown(reports: Sequence[Report]) -> str:
    """Return one Markdown table per campaign. The first row of a cluster has its number."""
    from streams.reports.notes import board_title, describe_trouble
    from streams.reports.score_axis import ScoreText, has_judge_ranges, judge_range, rank_range

    blocks = []
    for report in reports:
        rows, form = report.leaderboard.rows, ScoreText.of(report.leaderboard)
        others, islands = has_judge_ranges(rows), len({row.island for row in rows}) > 1
        headings = [
            *(["island"] if islands else []),
            "cluster",
            "rank",
            "range",
            *(["range for other judges"] if others else []),
            "system",
            form.heading,
            "deviation",
            "judgments",
        ]
        left = {"range", "range for other judges", "system"}
        lines = [
            f"### {escape_markdown(board_title(report.leaderboard))}\n",
            f"{report.about}\n",
            f"| {' | '.join(headings)} |",
            f"|{'|'.join('---' if heading in left else '---:' for heading in headings)}|",
        ]
        before = (0, 0)
        for row in rows:
            begins = str(row.cluster) if (row.island, row.cluster) != before else ""
            before = row.island, row.cluster
            cells = [
                *([str(row.island)] if islands else []),
                begins,
                str(row.rank),
                rank_range(row.rank_low, row.rank_high),
                *([judge_range(row)] if others else []),
                escape_markdown(row.system),
                form.score(row),
                form.deviation(row),
                f"{row.judgments:,}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
        if report.effects:
            lines += ["", *_effects_as_markdown(report.effects)]
        if trouble := describe_trouble(report.leaderboard):
            lines += ["", *(f"- {escape_markdown(sentence)}" for sentence in trouble)]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _effects_as_markdown(found: ControlledRanking) -> list[str]:
    from streams.reports.effects import HEADINGS, describe_moves, describe_unused, effect_rows

    rows = effect_rows(found.features, found.leaderboard.scale)
    table = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1)), *(map(escape_markdown, row) for row in rows)]
    sentences = [*describe_unused(found.unused), describe_moves(found.moved, len(found.leaderboard.rows))]
    return [*(f"| {' | '.join(cells)} |" for cells in table), "", *map(escape_markdown, sentences)]


def escape_markdown(text: str) -> str:
    r"""Escape the characters that have a meaning in Markdown.

    >>> print(escape_markdown("KIT_primary|2"))
    KIT\_primary\|2
    """
    return text.translate(_MARKDOWN)


def check_suffix(file: Path | None, suffixes: Sequence[str], *, option: str) -> None:
    """Raise UsageError if the suffix is wrong, so that a mistake does not overwrite a log."""
    if file is not None and file.suffix.lower() not in suffixes:
        raise click.UsageError(f"{option} {file}: the name must end in {' or '.join(suffixes)}")


_PRIVATE = re.compile(r"(judge!?)=.*", re.DOTALL)  # the id of a judge, in --only
_NOT_STATED = ("page", "plot", "config", "as_object", "as_table", "as_text")


def write_page(file: Path, reports: Sequence[Report], *, log: str) -> None:
    """Write one HTML page with all campaigns of a log. It names the log and the options of the command."""
    from importlib.metadata import version

    from streams.reports.html_page import html_page
    from streams.reports.provenance import Provenance

    about = Provenance(
        file=PurePath(log).name,
        at=datetime.now(UTC),
        options=given_options(click.get_current_context()),
        version=version("judgestream"),
    )
    write(file, html_page(reports, about).encode())


def given_options(context: click.Context) -> str:
    """Return the options that were given to a command, without the files that it writes."""
    words: list[str] = []
    for option in context.command.params:
        name, value = option.name or "", context.params.get(option.name or "")
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not isinstance(option, click.Option) or not given or name in _NOT_STATED:
            continue
        for each in value if isinstance(value, tuple) else (value,):
            words.append(option.opts[-1] if each is not False else option.secondary_opts[-1])
            words += [] if option.is_flag else [shlex.quote(_PRIVATE.sub(r"\1=…", str(each)))]
    return " ".join(words)


def write_plots(file: Path, reports: Sequence[Report]) -> None:
    """Write one figure per campaign. If there are several, the file names contain the campaign."""
    from streams.reports.canvas import figure_bytes
    from streams.reports.plots import ranking_figure

    for report in reports:
        part = report.leaderboard.campaign if report.leaderboard.category is None else _file_name(report.leaderboard)
        name = f"{file.stem}.{part}{file.suffix}" if len(reports) > 1 else file.name
        write(file.with_name(name), figure_bytes(ranking_figure(report), suffix=file.suffix.lower()))


def _file_name(board: Leaderboard) -> str:
    """Return the campaign and the category as a part of a file name. Values may hold any character."""
    tag, value = (_name_part(text or "") for text in _category_cells(board))
    return f"{board.campaign}.{tag}={value}"


def _name_part(text: str) -> str:
    """Return a text as a part of a file name. A long one is cut, and a hash tells it from others."""
    quoted = quote(text, safe=" ")
    if len(quoted) <= LONGEST_PART:
        return quoted
    return f"{quoted[:50]}~{blake2b(text.encode(), digest_size=4).hexdigest()}"


def write(file: Path, content: bytes) -> None:
    """Write a file completely or not at all, and report it on standard error."""
    with replacing(file) as stream:
        stream.write(content)
    click.echo(f"written: {file}", err=True)
