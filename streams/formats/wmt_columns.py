"""Read the CSV of rankings of WMT in columns. Rows whose first system has no year are read one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streams.errors import RecordError
from streams.formats.columns.ranking_columns import join_rankings
from streams.formats.columns.table_reader import CsvBlocks, read_table
from streams.formats.columns.wide import WideColumns
from streams.formats.names import wmt_campaign
from streams.formats.wmt import WmtRow, WmtTable, judge_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from streams.formats.base import EntryBatch, ImportRun
    from streams.formats.columns.cells import Cells
    from streams.formats.input.line_buffer import LineBuffer
    from streams.formats.input.sources import Source
    from streams.formats.input.tables import Table
    from streams.wire.events import Judgment

_ROW = "row"  # the name of a whole row
_KEPT = ("srclang", "trglang", "segmentid", "judgeid", "first system")
_FIRST = len(_KEPT) - 1
_WIDE = WideColumns(
    segment=("segmentid",), judge=("judgeid",), systems=("systems",), ranks=("ranks",), empty=("has sharing",)
)


class _Blocks(CsvBlocks):
    """The rows of a table of WMT. The first system makes a part of the verdict, because its name has the campaign."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, self._open, self._choose)
        self.names = (*_KEPT, *_WIDE.systems, *_WIDE.ranks, *_WIDE.empty)

    def _open(self, lines: LineBuffer) -> Table:
        self._wmt = WmtTable(lines)
        return self._wmt.table

    def _choose(self, table: Table) -> dict[str, int]:
        systems, ranks = zip(*self._wmt.places, strict=True)
        chosen = {name: table.columns[name] for name in _KEPT[:_FIRST]}
        return chosen | {f"#{place}": place for place in (*systems, *ranks)}

    def peek(self, most: int) -> Cells:
        """Return the cells of the next rows, with joined rankings."""
        middle = _FIRST + len(self._wmt.places)
        systems, ranks = range(_FIRST, middle), range(middle, middle + len(self._wmt.places))
        return join_rankings(super().peek(most), range(len(_KEPT)), systems, ranks)

    def skip(self, cells: Cells, count: int) -> int:
        """Pass over the first rows of these cells. The last one has the campaign that goes on."""
        (last,) = cells.values([count - 1])
        self._wmt.campaign = wmt_campaign([str(last[_FIRST])])
        return super().skip(cells, count)

    def rows(self) -> Iterator[tuple[int, Mapping[str, object] | RecordError]]:
        """Read the next rows one by one."""
        for line, row in self._wmt.rows():
            yield line, row if isinstance(row, RecordError) else {_ROW: row}


def read_columns(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    """Read the table in columns."""
    return read_table(_Blocks(source), source, run, wide=_WIDE, judge=_judge)


def _judge(row: Mapping[str, Any], number: int, run: ImportRun) -> list[Judgment]:
    """Return the judgment of a whole row, or of the cells of one."""
    if _ROW in row:
        return judge_row(row[_ROW], number, run)
    campaign = wmt_campaign([row[_KEPT[_FIRST]]])
    if campaign is None:
        raise RecordError("invalid_value", "the campaign is that of the row before")
    names, ranks = row["systems"].split("|"), row["ranks"].split("|")
    outputs: list[tuple[tuple[str, ...], str]] = [((name,), rank) for name, rank in zip(names, ranks, strict=False)]
    languages = row["srclang"], row["trglang"]
    return judge_row(WmtRow(campaign, languages, row["segmentid"], row["judgeid"], outputs), number, run)
