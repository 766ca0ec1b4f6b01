"""Read Parquet files with the columns of an arena or of a judgment. This needs pyarrow."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from streams.errors import FormatError, RecordError
from streams.formats import arena
from streams.formats.base import Format
from streams.formats.names import campaign_name
from streams.formats.rankings import parse_time
from streams.formats.validation import row_reader
from streams.wire.events import Judgment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.base import ImportRun
    from streams.formats.input.sources import Source

    _ParquetRow = dict[str, object]

MAGIC = b"PAR1"

_OWN = Judgment.__struct_fields__
_NEEDED = ("id", "campaign", "segment", "judge", "systems")
_BATTLE = (*(side for sides in arena.SIDES for side in sides), arena.WINNER, *arena.SEGMENT, *arena.JUDGE, *arena.TIME)
_ROWS = 1000
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _read_rows(source: Source, run: ImportRun) -> Iterator[tuple[int, _ParquetRow | RecordError]]:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise FormatError(f"{run.file}: reading Parquet needs pyarrow: pip install 'judgestream[parquet]'") from None
    if source.path is None or not source.head.startswith(MAGIC):
        raise FormatError(f"{run.file}: Parquet is read from a plain file, neither a stream nor compressed as a whole")
    number = 0
    try:
        with source.path.open("rb") as stream, parquet.ParquetFile(stream, pre_buffer=False, buffer_size=2**16) as file:
            names = _columns(file.schema_arrow.names, run)
            for batch in file.iter_batches(batch_size=_ROWS, columns=names, use_threads=False):
                for row in _values(batch, pyarrow):
                    number += 1
                    yield number, row
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, MemoryError, OverflowError) as error:
        raise FormatError(f"{run.file}: can't be read as Parquet: {str(error)[:200]}") from None


def _columns(names: list[str], run: ImportRun) -> list[str]:
    if set(names).issuperset(_NEEDED):
        return [name for name in names if name in _OWN]
    if arena.is_battles(names):
        return [name for name in names if name in _BATTLE]
    raise FormatError(
        f"{run.file}: Parquet needs the columns {', '.join(_NEEDED)} of a judgment, or model_a, model_b, winner of a "
        f"battle; it has {', '.join(names)[:200]}"
    )


def _values(batch: Any, pyarrow: Any) -> list[_ParquetRow]:
    """Return the rows of a batch. Times become seconds, because Python can't represent every time of Arrow."""
    columns: dict[str, list[object]] = {}
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pyarrow.types.is_timestamp(field.type):
            ticks = _TICKS[field.type.unit]
            values = column.cast(pyarrow.int64()).to_pylist()
            columns[field.name] = [None if value is None else value / ticks for value in values]
        else:
            columns[field.name] = column.to_pylist()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _to_judgments(row: _ParquetRow, number: int, run: ImportRun) -> list[Judgment]:
    if arena.WINNER in row:
        return arena.judge_battle(row, number, run)
    known = {name: value for name, value in row.items() if value is not None}
    known.setdefault("at", number)
    if run.campaign:
        known["campaign"] = campaign_name(run)
    at = known["at"]
    if isinstance(at, (str, float, int)):
        known["at"] = parse_time(at, field="at")
    try:
        return [msgspec.convert(known, Judgment)]
    except msgspec.ValidationError as error:
        raise RecordError("invalid_value", str(error)) from None


FORMAT = Format(
    name="parquet",
    about="Parquet with the columns of an arena or of a judgment (needs pyarrow)",
    recognises=lambda head: head.data.startswith(MAGIC),
    batches=row_reader(_read_rows, _to_judgments),
)
