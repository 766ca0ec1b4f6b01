"""The cells of a batch of Arrow. Texts are not copied one by one: a column is one piece of bytes with places in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streams.formats.columns.cells import Cells, TextPool
from streams.wire.scanner.kernels.text import PADDING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from streams.formats.columns.cells import Ints

_UNITS = {"s": 1_000_000, "ms": 1000, "us": 1}  # microseconds
_LATEST = 2.2e11  # seconds; the complete reader explains times beyond the year 9000


def arrow_cells(batch: Any, pyarrow: Any, *, values: Callable[[Sequence[int]], Sequence[Sequence[object]]]) -> Cells:
    """Return the cells of a batch, or none if a column is neither text, whole numbers, times nor truth values."""
    pool = TextPool(b"")
    places = [] if batch is None else [_add_column(column, pool, pyarrow) for column in batch.columns]
    rows = 0 if batch is None or None in places else batch.num_rows
    begins, ends = np.zeros((2, len(places), rows), np.int64)
    if rows:
        for k, place in enumerate(places):
            assert place is not None
            begins[k], ends[k] = place
    return Cells(
        data=pool.content() + bytes(PADDING), begins=begins, ends=ends, row_ends=np.zeros(0, np.int64), values=values
    )


def _add_column(column: Any, pool: TextPool, pyarrow: Any) -> tuple[Ints, Ints] | None:
    """Add the texts of a column. Return their places, or None if the complete reader has to read them."""
    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind):
        known = _add_column(column.dictionary, pool, pyarrow)
        if known is None or not types.is_string(kind.value_type):
            return None
        used = _numbers(column.indices).astype(np.int64)
        places = (known[0][used], known[1][used]) if len(column.dictionary) else (used, used)
    elif types.is_timestamp(kind) and kind.unit in _UNITS:
        times = _numbers(column.cast(pyarrow.int64()))
        if len(times) and (times.min() < 0 or times.max() > _LATEST * 1e6 // _UNITS[kind.unit]):
            return None
        places = pool.add_times(times * _UNITS[kind.unit])
    elif types.is_floating(kind):
        numbers, used = np.unique(_numbers(column.cast(pyarrow.float64())), return_inverse=True)
        texts = [str(int(number)) if number.is_integer() else str(number) for number in numbers.tolist()]
        begins, ends = pool.add_all([text.encode() for text in texts])
        places = begins[used], ends[used]
    elif types.is_integer(kind) or types.is_boolean(kind):
        return _add_column(column.cast(pyarrow.string()), pool, pyarrow)
    elif types.is_string(kind):
        offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
        offsets = offsets.astype(np.int64) if len(column) else np.zeros(1, np.int64)
        content = column.buffers()[2]
        text = b"" if content is None else memoryview(content)[offsets[0] : offsets[-1]].tobytes()
        text.decode()  # a text that is not UTF-8 is an error, as in the complete reader
        begin, _ = pool.add(text)
        places = begin + offsets[:-1] - offsets[0], begin + offsets[1:] - offsets[0]
    else:
        return None
    if column.null_count:
        missing = _is_missing(column)
        places = np.where(missing, 0, places[0]), np.where(missing, 0, places[1])
    return places


def _numbers(column: Any) -> NDArray[Any]:
    """Return the numbers of a column, with 0 for missing ones. Its own methods would load pandas."""
    kind = {"double": "float64"}.get(str(column.type), str(column.type))
    if not len(column):
        return np.zeros(0, kind)
    values = np.frombuffer(column.buffers()[1], kind)[column.offset : column.offset + len(column)]
    return np.where(_is_missing(column), 0, values) if column.null_count else values


def _is_missing(column: Any) -> NDArray[np.bool_]:
    bits = np.unpackbits(np.frombuffer(column.buffers()[0], np.uint8), bitorder="little")
    missing: NDArray[np.bool_] = bits[column.offset : column.offset + len(column)] == 0
    return missing
