"""Read a table in blocks: usual rows as columns, and the others by the complete reader, which explains them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Protocol

from streams.formats.ahead import read_ahead
from streams.formats.base import EntryBatch
from streams.formats.columns.cells import split_block
from streams.formats.columns.transcriber import Transcriber
from streams.formats.columns.wide import MOST_ROWS
from streams.formats.input.line_buffer import LineBuffer
from streams.formats.unnamed import UnnamedCounter
from streams.formats.validation import row_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from streams.errors import RecordError
    from streams.formats.base import ImportRun
    from streams.formats.columns.cells import Cells
    from streams.formats.columns.row_numbers import RowNumbers
    from streams.formats.columns.templates import JudgeRow
    from streams.formats.columns.transcriber import Transcribed
    from streams.formats.columns.wide import WideColumns
    from streams.formats.input.sources import Source
    from streams.formats.input.tables import Table

    Rows = Iterator[tuple[int, Mapping[str, object] | RecordError]]

_BLOCK = 2**21  # bytes that are split at once
_FEWEST = 64  # rows of a block after an unusual row
_MANY = 256  # usual rows after which unusual ones are few again
_MOST_OTHERS = 2**10  # rows that the complete reader reads before the next block is tried


class TableBlocks(Protocol):
    """The rows of a table, which can be read as cells or one by one. `names` are the columns of the cells."""

    names: tuple[str, ...]

    def peek(self, most: int) -> Cells:
        """Return the cells of the next rows, up to one that is not usual. Nothing is read."""

    def skip(self, cells: Cells, count: int) -> int:
        """Pass over the first rows of these cells. Return the line of the first one."""

    def rows(self) -> Rows:
        """Read the next rows one by one, with their lines."""


def read_table(
    blocks: TableBlocks,
    source: Source,
    run: ImportRun,
    *,
    wide: WideColumns,
    judge: JudgeRow,
    numbers: RowNumbers | None = None,
) -> Iterator[EntryBatch]:
    """Read a table in a thread, one batch ahead. `judge` receives a row with its columns by name.

    If ids are made of numbers in the rows, `numbers` knows the last ones.
    """
    return read_ahead(_read(blocks, source, run, judge, Transcriber(blocks.names, wide, judge, run, numbers)))


def _read(
    blocks: TableBlocks, source: Source, run: ImportRun, judge: JudgeRow, transcriber: Transcriber
) -> Iterator[EntryBatch]:
    """Read a table.

    After an unusual row, the next block is smaller, and the complete reader reads ever more rows at once. So a table
    with many unusual rows does not take much longer.
    """
    rows, unnamed = blocks.rows(), UnnamedCounter()
    most, others = MOST_ROWS, 1
    while True:
        cells = blocks.peek(most)
        found = transcriber.transcribe(cells, run.summary.rows + 1) if len(cells) else None
        if found is not None and found.rows:
            yield _count(found, blocks.skip(cells, found.rows), run, unnamed)
            others = 1 if found.rows >= _MANY else others
            if found.rows == len(cells):
                most = min(4 * most, MOST_ROWS)
                continue
        before = run.summary.rows
        yield from row_reader(lambda *_: islice(rows, others), judge)(source, run)  # noqa: B023 - read at once
        if run.summary.rows < before + others:
            return
        most, others = max(_FEWEST, 2 * found.rows if found else 0), min(2 * others, _MOST_OTHERS)


def _count(found: Transcribed, line: int, run: ImportRun, unnamed: UnnamedCounter) -> EntryBatch:
    """Count the rows of a block, and return its judgments."""
    summary = run.summary
    summary.rows += found.rows
    summary.left_out.update(found.left_out)
    if found.columns is None:
        return EntryBatch((), ())
    summary.judged += len(found.columns)
    summary.judgments += len(found.columns)
    unnamed.count(found.columns, run)
    is_whole = len(found.columns) == found.rows
    lines = range(line, line + found.rows) if is_whole else (line + found.places).tolist()
    return EntryBatch(lines, found.columns)


class CsvBlocks:
    """The rows of a CSV table. `open_table` reads its header, and `choose` returns the columns by name and place."""

    def __init__(
        self,
        source: Source,
        open_table: Callable[[LineBuffer], Table],
        choose: Callable[[Table], Mapping[str, int]],
        *,
        is_stripped: bool = False,
    ) -> None:
        self._lines = LineBuffer(source)
        self._table = open_table(self._lines)
        self._columns = choose(self._table)
        self._is_stripped = is_stripped
        self.names = tuple(self._columns)

    def peek(self, most: int) -> Cells:
        """Return the cells of the next rows."""
        table = self._table
        block = b"" if table.is_inside_line or table.delimiter == " " else self._lines.peek(_BLOCK)
        return split_block(
            block,
            delimiter=table.delimiter,
            columns=tuple(self._columns.values()),
            width=len(table.columns),
            most=most,
        )

    def skip(self, cells: Cells, count: int) -> int:
        """Pass over the first rows of these cells."""
        line = self._table.next_line
        self._lines.skip(int(cells.row_ends[count - 1]))
        self._table.skip_lines(count)
        return line

    def rows(self) -> Rows:
        """Read the next rows one by one."""
        for line, cells in self._table.rows():
            if isinstance(cells, list):
                texts = [cell.strip() for cell in cells] if self._is_stripped else cells
                yield line, {name: texts[place] for name, place in self._columns.items()}
            else:
                yield line, cells
