"""Rows as a Parquet file. This needs pyarrow."""

from __future__ import annotations

import io
from datetime import datetime
from importlib import import_module
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from streams.errors import JudgestreamError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import msgspec


def require_pyarrow(name: str) -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet, or raise an error that says how to install them."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise JudgestreamError(f"{name}: writing Parquet needs pyarrow: pip install 'judgestream[parquet]'") from None


def parquet_bytes(kind: type[msgspec.Struct], rows: Sequence[msgspec.Struct]) -> bytes:
    """Return rows of one type as a Parquet file, one column per field. Times are in UTC."""
    pyarrow, parquet = require_pyarrow(kind.__name__)
    types = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        datetime: pyarrow.timestamp("us", tz="UTC"),
    }
    hints = get_type_hints(kind)
    fields = [(name, types[_plain(hints[name])]) for name in kind.__struct_fields__]
    columns = {name: [getattr(row, name) for row in rows] for name, _ in fields}
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns, schema=pyarrow.schema(fields)), out)
    return out.getvalue()


def _plain(hint: Any) -> type:
    """Return the type of a field that may be null."""
    kinds: tuple[type, ...] = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return next(kind for kind in kinds if kind is not type(None))
