"""Read Parquet files with the columns of an arena or of a judgment. This needs pyarrow."""

from __future__ import annotations

from array import array
from contextlib import contextmanager
from importlib import import_module
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats.arena import SEGMENT
from streams.formats.base import Format
from streams.formats.columns.wide import MOST_ROWS
from streams.formats.input.parquet_pages import MAX_ROWS, check_footer, plan_reading
from streams.formats.input.sources import PARQUET
from streams.formats.layouts import LAYOUTS, explain_unusable
from streams.formats.limits import MAX_FOOTER
from streams.formats.names import ANONYMOUS, UNSPECIFIED, campaign_name, shorten_name
from streams.formats.rankings import parse_time
from streams.formats.validation import row_reader
from streams.quoting import cut
from streams.wire.events import Judgment
from streams.wire.limits import MAX_RANKED, MAX_SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from streams.formats.base import EntryBatch, ImportRun
    from streams.formats.columns.cells import Cells
    from streams.formats.input.sources import Source
    from streams.formats.records import RecordLayout

    _ParquetRow = Mapping[str, object]

_OWN = Judgment.__struct_fields__
_NEEDED = ("id", "campaign", "segment", "judge", "systems")
_LONG = frozenset((*SEGMENT, "instruction", "caption", "text", "prefix", "suffix"))  # texts that become a segment
_SAMPLED = 200  # rows that are inspected if the columns are unknown
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def read_rows(
    source: Source,
    run: ImportRun,
    *,
    choose: Callable[[list[str]], list[str]],
    shortened: Collection[str],
    whole: Collection[str] = (),
    rename: Callable[[str], str] = str,
) -> Iterator[tuple[int, _ParquetRow]]:
    """Yield the rows of a Parquet file, with their numbers. `choose` returns the columns to read, of all columns.

    Long texts of the columns `shortened` are shortened as names. Others are cut where they are too long for all fields,
    except in the columns `whole`.
    `rename` returns the name of a column in a row.
    """
    pyarrow = _pyarrow(run)
    number = 0
    with _explaining(run, pyarrow, lambda: number):
        for batch in _batches(source, run, choose):
            for row in _values(batch, pyarrow, shortened, whole, rename):
                number += 1
                yield number, row


def _pyarrow(run: ImportRun) -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        raise FormatError(f"{run.file}: reading Parquet needs pyarrow: pip install 'judgestream[parquet]'") from None


@contextmanager
def _explaining(run: ImportRun, pyarrow: Any, rows: Callable[[], int]) -> Iterator[None]:
    """Turn what pyarrow may raise into FormatError. `rows` returns how many rows were read."""
    try:
        yield
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, MemoryError, OverflowError) as error:
        place = f"{run.file}, after row {rows()}" if rows() else run.file
        raise FormatError(f"{place}: can't be read as Parquet: {cut(str(error), 200)}") from None


def _batches(
    source: Source, run: ImportRun, choose: Callable[[list[str]], list[str]], most: int = MAX_ROWS
) -> Iterator[Any]:
    """Yield the rows of a Parquet file in batches of Arrow with at most `most` rows, as many as fit in memory."""
    if source.path is None or not source.head.startswith(PARQUET):
        raise FormatError(f"{run.file}: Parquet is read from a plain file, neither a stream nor compressed as a whole")
    parquet = import_module("pyarrow.parquet")
    with source.path.open("rb") as stream:
        check_footer(stream)
        with parquet.ParquetFile(stream, **_READING) as file:
            names = choose(file.schema_arrow.names)
            plan = plan_reading(stream, file, names, most=most)
        stream.seek(0)
        with parquet.ParquetFile(stream, **_READING, read_dictionary=plan.dictionaries) as file:
            yield from file.iter_batches(batch_size=plan.rows, columns=names, use_threads=False)


_READING = {
    "pre_buffer": False,
    "buffer_size": 2**16,
    "thrift_string_size_limit": MAX_FOOTER,
    "thrift_container_size_limit": MAX_FOOTER // 8,
}


def _read_rows(source: Source, run: ImportRun) -> Iterator[tuple[int, _ParquetRow]]:
    # Names of fields are in lower case, as layouts have them. Those of a judgment always are.
    whole: set[str] = set()

    def choose(names: list[str]) -> list[str]:
        layout = _layout(names)
        if run.features is not None and layout and layout.outputs:
            run.features.fields = tuple(names)
            whole.update(layout.outputs.columns(run.features.names))
        return _columns(names, source, run)

    return read_rows(source, run, choose=choose, shortened=_LONG, whole=whole, rename=str.lower)


def _columns(names: list[str], source: Source, run: ImportRun) -> list[str]:
    if set(names).issuperset(_NEEDED):
        return [name for name in names if name in _OWN]
    if layout := _layout(names):
        return [name for name in names if layout.has_column(name, run.features)]
    if reason := explain_unusable(names):
        raise FormatError(f"{run.file}: {reason}")
    from streams.formats.mapping.unknown_tables import explain_columns  # which reads Parquet, too

    raise explain_columns(names, _first_rows(source, run), name=run.file)


def _layout(names: Collection[str]) -> RecordLayout | None:
    """Return the layout of a file with these columns."""
    return next((layout for layout in LAYOUTS if layout.columns and layout.recognises(names)), None)


def _first_rows(source: Source, run: ImportRun) -> list[_ParquetRow]:
    """Return some rows with all columns, or none if they can't be read."""
    try:
        return [row for _, row in islice(read_rows(source, run, choose=lambda names: names, shortened=()), _SAMPLED)]
    except FormatError:
        return []


def _values(
    batch: Any, pyarrow: Any, shortened: Collection[str], whole: Collection[str], rename: Callable[[str], str]
) -> list[_ParquetRow]:
    """Return the rows of a batch."""
    columns: dict[str, list[Any]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name.lower() in whole:
            columns[rename(name)] = column.to_pylist()
            continue
        shorten = shorten_name if name.lower() in shortened else _cut
        columns[rename(name)] = _column(column, pyarrow, shorten)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _cut(text: str) -> str:
    """Return a text, or the beginning of one that is too long for every field."""
    return text[: MAX_SOURCE + 1]


def _column(column: Any, pyarrow: Any, shorten: Callable[[str], str]) -> list[Any]:
    """Return the values of a column. A text that occurs often is shortened once, and a list that is too long is cut."""
    types = pyarrow.types
    if types.is_timestamp(column.type):  # becomes seconds, because Python can't represent every time of Arrow
        ticks = _TICKS[column.type.unit]
        return [None if value is None else value / ticks for value in column.cast(pyarrow.int64()).to_pylist()]
    if types.is_list(column.type) or types.is_large_list(column.type):
        offsets = column.offsets.to_pylist()
        spans = [(begin, min(end, begin + MAX_RANKED + 1)) for begin, end in pairwise(offsets)]
        if all(end == cut for end, (_, cut) in zip(offsets[1:], spans, strict=True)):
            whole = _column(column.values[offsets[0] : offsets[-1]], pyarrow, shorten)
            lists = [whole[begin - offsets[0] : end - offsets[0]] for begin, end in spans]
        else:
            lists = [_column(column.values[begin:end], pyarrow, shorten) for begin, end in spans]
        return [found if valid else None for found, valid in zip(lists, column.is_valid().to_pylist(), strict=True)]
    if types.is_struct(column.type):
        names = [column.type.field(k).name for k in range(column.type.num_fields)]
        parts = zip(*(_column(part, pyarrow, shorten) for part in column.flatten()), strict=True)
        return [
            dict(zip(names, part, strict=True)) if valid else None
            for part, valid in zip(parts, column.is_valid().to_pylist(), strict=True)
        ]
    if types.is_dictionary(column.type):
        places = column.indices.to_pylist()
        used = {place: number for number, place in enumerate(dict.fromkeys(places)) if place is not None}
        texts = column.dictionary.take(_index(used, pyarrow)).to_pylist()
        known = dict(zip(used, (shorten(text) if isinstance(text, str) else text for text in texts), strict=True))
        return [known.get(place) for place in places]
    return [shorten(value) if isinstance(value, str) else value for value in column.to_pylist()]


def _index(places: Collection[int], pyarrow: Any) -> Any:
    """Return places as an array of Arrow. `pyarrow.array` would load pandas."""
    packed = array("q", places)
    return pyarrow.Array.from_buffers(pyarrow.int64(), len(packed), [None, pyarrow.py_buffer(packed)])


def _to_judgments(row: _ParquetRow, number: int, run: ImportRun) -> list[Judgment]:
    if not row.keys() >= set(_NEEDED):
        layout = _layout(row.keys())
        assert layout
        return layout.judge_row(row, number, run)
    known = {name: value for name, value in row.items() if value is not None}
    known.setdefault("at", number)
    known["judge"], known["segment"] = known.get("judge") or ANONYMOUS, known.get("segment") or UNSPECIFIED
    known["campaign"] = campaign_name(run, in_file=str(known.get("campaign") or ""))
    at = known["at"]
    if isinstance(at, (str, float, int)):
        known["at"] = parse_time(at, field="at")
    try:
        return [msgspec.convert(known, Judgment)]
    except msgspec.ValidationError as error:
        raise RecordError("invalid_value", str(error)) from None


class ParquetBlocks:
    """The rows of a Parquet file, which are read as cells or one by one."""

    _batch: Any = None  # of Arrow

    def __init__(self, source: Source, run: ImportRun) -> None:
        self._pyarrow = _pyarrow(run)
        self._run = run
        self._batches = _batches(source, run, lambda names: _columns(names, source, run), MOST_ROWS)
        self._place = self._number = 0  # rows of the batch, and of the file, that were read
        self.names: tuple[str, ...] = ()
        if self._has_rows():
            self.names = tuple(name.lower() for name in self._batch.schema.names)

    def _has_rows(self) -> bool:
        while self._batch is None or self._place == self._batch.num_rows:
            with _explaining(self._run, self._pyarrow, lambda: self._number):
                self._batch, self._place = next(self._batches, None), 0
            if self._batch is None:
                return False
        return True

    def peek(self, most: int) -> Cells:
        """Return the cells of the next rows. There are none if a column has a type that is not usual."""
        from streams.formats.columns.arrow_cells import arrow_cells

        rows: Any = self._batch.slice(self._place, most) if self._has_rows() else None
        with _explaining(self._run, self._pyarrow, lambda: self._number):
            return arrow_cells(rows, self._pyarrow, values=lambda places: self._cells(rows, places))

    def _cells(self, rows: Any, places: Sequence[int]) -> list[list[object]]:
        return [list(row.values()) for row in self._values(rows.take(_index(places, self._pyarrow)))]

    def _values(self, rows: Any) -> list[_ParquetRow]:
        with _explaining(self._run, self._pyarrow, lambda: self._number):
            return _values(rows, self._pyarrow, _LONG, (), str.lower)

    def skip(self, _: Cells, count: int) -> int:
        """Pass over rows. Return the number of the first one."""
        self._place += count
        self._number += count
        return self._number - count + 1

    def rows(self) -> Iterator[tuple[int, _ParquetRow]]:
        """Read the next rows one by one."""
        known: list[_ParquetRow] = []
        following, size = -1, 1  # the row of the file after those that are known
        while self._has_rows():
            if self._number >= following or self._number < following - len(known):
                size = min(2 * size, MAX_ROWS) if self._number == following else 1
                known = self._values(self._batch.slice(self._place, size))
                following = self._number + len(known)
            row = known[self._number - following]
            self._place += 1
            self._number += 1
            yield self._number, row


def _read_batches(source: Source, run: ImportRun) -> Iterator[EntryBatch]:
    if not run.columns:
        return row_reader(_read_rows, _to_judgments)(source, run)
    from streams.formats.columns.table_reader import read_table  # which loads the scanner

    blocks = ParquetBlocks(source, run)
    layout = _layout(blocks.names)
    if layout is None or layout.wide is None:
        return row_reader(lambda *_: blocks.rows(), _to_judgments)(source, run)
    return read_table(blocks, source, run, wide=layout.wide, judge=_to_judgments)


FORMAT = Format(
    name="parquet",
    about="Parquet with the columns of an arena or of a judgment (needs pyarrow)",
    recognises=lambda head: head.data.startswith(PARQUET),
    batches=_read_batches,
)
