"""Read a CSV table in blocks: usual rows as columns, and the others by the complete reader, which explains them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from streams.formats.base import EntryBatch
from streams.formats.columns.cells import MOST_ROWS, split_block
from streams.formats.columns.transcriber import Transcriber
from streams.formats.unnamed import count_unnamed
from streams.formats.validation import row_reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from streams.errors import RecordError
    from streams.formats.base import ImportRun
    from streams.formats.columns.templates import JudgeRow
    from streams.formats.columns.transcriber import Transcribed
    from streams.formats.columns.wide import WideColumns
    from streams.formats.input.line_buffer import LineBuffer
    from streams.formats.input.sources import Source
    from streams.formats.input.tables import Cells, Table

BLOCK = 2**21  # bytes that are transcribed together
_SMALLEST = 2**12  # bytes of a block after an unusual row
_MOST_ROWS = 2**10  # that the complete reader reads before the next block is tried


def read_table(
    table: Table,
    lines: LineBuffer,
    source: Source,
    run: ImportRun,
    *,
    columns: Mapping[str, int],
    wide: WideColumns,
    judge: JudgeRow,
) -> Iterator[EntryBatch]:
    """Read a table. `columns` has the names and places of the columns that are read. `judge` receives them by name.

    A block that begins with usual rows is read again after the first other row. It is then smaller, and the complete
    reader reads ever more rows at once, so that a table without usual rows does not take much longer.
    """
    transcriber = Transcriber(tuple(columns), wide, judge, run)
    places = tuple(columns.values())
    rows = _named(table.rows(), columns, is_stripped=wide.is_stripped)
    size, others = BLOCK, 1
    while True:
        block = b"" if table.is_inside_line or table.delimiter == " " else lines.peek(size)
        cells = split_block(block, delimiter=table.delimiter, columns=places, width=len(table.columns))
        found = transcriber.transcribe(cells, run.summary.rows + 1) if len(cells) else None
        read = 0
        if found is not None and found.rows:
            read = int(cells.row_ends[found.rows - 1])
            batch = _count(found, table.next_line, run)
            lines.skip(read)
            table.skip_lines(found.rows)
            yield batch
        if block and found is not None and found.rows in (block.count(b"\n"), MOST_ROWS):
            size, others = min(4 * size, BLOCK), 1
            continue
        before = run.summary.rows
        yield from row_reader(lambda *_: islice(rows, others), judge)(source, run)  # noqa: B023
        if run.summary.rows < before + others:
            return
        size, others = max(_SMALLEST, 2 * read), min(2 * others, _MOST_ROWS)


def _named(
    rows: Iterator[tuple[int, Cells | RecordError]], columns: Mapping[str, int], *, is_stripped: bool
) -> Iterator[tuple[int, Mapping[str, object] | RecordError]]:
    """Yield the columns that are read by name."""
    for line, cells in rows:
        if isinstance(cells, list):
            yield line, {name: cells[place].strip() if is_stripped else cells[place] for name, place in columns.items()}
        else:
            yield line, cells


def _count(found: Transcribed, line: int, run: ImportRun) -> EntryBatch:
    """Count the rows of a block, and return its judgments."""
    summary = run.summary
    summary.rows += found.rows
    summary.left_out.update(found.left_out)
    if found.columns is None:
        return EntryBatch((), ())
    summary.judged += len(found.columns)
    summary.judgments += len(found.columns)
    count_unnamed(found.columns.data, run)
    return EntryBatch((line + found.places).tolist(), found.columns)
