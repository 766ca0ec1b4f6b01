"""Read the CSV files of WMT: one row ranks five systems, or compares two of a ranking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from streams.errors import FormatError, RecordError
from streams.formats.base import Format
from streams.formats.input.tables import Cells, Table
from streams.formats.names import campaign_name, language_pair, wmt_campaign
from streams.formats.rankings import make_judgments, ranked_outputs
from streams.formats.validation import row_reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import EntryBatch, ImportRun
    from streams.formats.input.head import FileHead
    from streams.formats.input.line_buffer import LineBuffer
    from streams.formats.input.sources import Source
    from streams.wire.events import Judgment

_REQUIRED = ("srclang", "trglang", "segmentid", "judgeid", "system1id", "system1rank", "system2id", "system2rank")
_SYSTEM = re.compile(r"system(\d{1,3})id")
_PAIRS_ONLY = "rankingid"
_NO_LANGUAGES = ("-1", "-1")  # as xml2csv of wmt-trueskill writes them


class WmtRow(NamedTuple):
    """A row of a table of WMT."""

    campaign: str | None
    languages: tuple[str, str]
    segment: str
    judge: str
    outputs: list[tuple[tuple[str, ...], str]]
    ranking: str | None = None  # of which the row is one comparison


class WmtTable:
    """A table of WMT, whose rows are read one by one. A row without a year is of the campaign of the row before it."""

    def __init__(self, source: Source | LineBuffer) -> None:
        self.table = Table(source, required=_REQUIRED, kind="a CSV of WMT")
        self.campaign: str | None = None
        self.places: list[tuple[int, int]] = []  # of each system and its rank
        at = self.table.columns
        for name in at:
            if found := _SYSTEM.fullmatch(name):
                rank = f"system{found[1]}rank"
                if rank not in at:
                    raise FormatError(f"{source.name}:1: there is a column {name}, but no column {rank}")
                self.places.append((at[name], at[rank]))

    def rows(self) -> Iterator[tuple[int, WmtRow | RecordError]]:
        """Yield the next rows."""
        at = self.table.columns
        are_joined = _PAIRS_ONLY in at
        source_language, target, segment, judge = (at[name] for name in _REQUIRED[:4])
        for line, cells in self.table.rows():
            if isinstance(cells, RecordError):
                yield line, cells
                continue
            outputs = _outputs(cells, self.places, are_joined=are_joined)
            self.campaign = wmt_campaign([systems[0] for systems, _ in outputs]) or self.campaign
            languages = (cells[source_language], cells[target])
            ranking = cells[at[_PAIRS_ONLY]] if are_joined else None
            yield line, WmtRow(self.campaign, languages, cells[segment], cells[judge], outputs, ranking)


def read_rows(source: Source, _: ImportRun) -> Iterator[tuple[int, WmtRow | RecordError]]:
    """Yield the rows of a table of WMT."""
    return WmtTable(source).rows()


def _read_batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    if not run.columns or run.shared is not None:
        return row_reader(read_rows, judge_row)(source, run)
    from streams.formats.wmt_columns import read_columns  # which loads the scanner

    return read_columns(source, run)


def _outputs(cells: Cells, places: list[tuple[int, int]], *, are_joined: bool) -> list[tuple[tuple[str, ...], str]]:
    """Return the outputs of a row. Comparisons may be collapsed: systems with the same output have `+` between them."""
    given = [(cells[system], cells[rank]) for system, rank in places if cells[system] or cells[rank]]
    return [(_systems(cell) if are_joined else (cell,), rank) for cell, rank in given]


def _systems(cell: str) -> tuple[str, ...]:
    """Return the systems of a cell. If its first name has a year, so have all: another `+` is a part of a name.

    >>> _systems("newstest2015.a.fr-en+newstest2015.b.fr-en"), _systems("newstest2015.a+b.fr-en")
    (('newstest2015.a.fr-en', 'newstest2015.b.fr-en'), ('newstest2015.a+b.fr-en',))
    """
    parts = tuple(cell.split("+"))
    if not all(parts) or (wmt_campaign([cell]) and any(wmt_campaign([part]) is None for part in parts)):
        return (cell,)
    return parts


def judge_row(row: WmtRow, number: int, run: ImportRun) -> list[Judgment]:
    """Return the judgment of a row."""
    outputs = ranked_outputs(run, row.outputs)
    if not outputs:
        return []
    pair = None if row.languages == _NO_LANGUAGES else language_pair(*row.languages)
    return make_judgments(
        run,
        number,
        outputs,
        campaign=campaign_name(run, in_file=row.campaign, pair=pair),
        segment=row.segment,
        judge=row.judge,
    )


def _is_rankings(head: FileHead) -> bool:
    return head.columns.issuperset(_REQUIRED) and _PAIRS_ONLY not in head.columns


def is_pairs(head: FileHead) -> bool:
    """Return whether this is a table of comparisons that belong to rankings."""
    return head.columns.issuperset((*_REQUIRED, _PAIRS_ONLY))


RANKINGS = Format("wmt-rankings", "WMT's CSV of rankings: five systems per row", _is_rankings, _read_batches)
