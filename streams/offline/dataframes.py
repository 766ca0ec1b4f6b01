"""Read judgments from a pandas DataFrame, and return rows as one. This needs the extra `pandas`."""

from __future__ import annotations

import io
import sys
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec

from streams import formats
from streams.errors import JudgestreamError
from streams.formats import arena
from streams.formats.names import ANONYMOUS, UNSPECIFIED
from streams.formats.rankings import row_time
from streams.wire.events import Judgment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pandas import DataFrame

    from streams.formats import Reading

DATAFRAME = "dataframe"  # its name in messages, and the campaign of rows without one


def is_dataframe(source: object) -> TypeGuard[DataFrame]:
    """Return whether `source` is a DataFrame, without importing pandas. Whoever has one has imported it."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def read_dataframe(frame: DataFrame, **options: Any) -> Reading:
    """Read a DataFrame as a log. The options are those of `formats.read`."""
    columns = [str(column) for column in frame.columns]
    of_judgments = False
    if not options.get("columns"):
        of_judgments = "systems" in columns and ("ranks" in columns or "score" in columns)
        if of_judgments or arena.LAYOUT.recognises(columns):
            options["format"] = "jsonl" if of_judgments else "arena"
    stream = io.BytesIO(b"".join(_json_lines(frame, of_judgments=of_judgments)))
    stream.name = DATAFRAME  # messages contain it, as they contain the name of a file
    return formats.read(stream, **options)


def to_dataframe(rows: list[dict[str, Any]], columns: Sequence[str] | None = None) -> DataFrame:
    """Return rows as a DataFrame."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise JudgestreamError("a DataFrame needs pandas: pip install 'judgestream[pandas]'") from None
    found: DataFrame = pandas.DataFrame(rows, columns=columns)
    return found


def _json_lines(frame: DataFrame, *, of_judgments: bool) -> Iterator[bytes]:
    """Yield every row as a line of JSON, without its missing cells. Rows of judgments get the fields that they lack."""
    known = frame.astype(object).where(frame.notna(), None)
    encoder = msgspec.json.Encoder(enc_hook=lambda value: value.tolist())  # numbers and arrays of numpy
    for number, row in enumerate(known.to_dict("records"), start=1):
        cells = {str(name): _to_json(value) for name, value in row.items() if value is not None}
        yield encoder.encode(_complete(cells, number) if of_judgments else cells) + b"\n"


def _complete(cells: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the fields of a judgment. A missing field gets a default."""
    defaults = {
        "id": str(number),
        "campaign": DATAFRAME,
        "segment": UNSPECIFIED,
        "judge": ANONYMOUS,
        "version": "1",
        "at": row_time(number),
    }
    fields = defaults | {name: cells[name] for name in Judgment.__struct_fields__ if name in cells}
    return fields | {name: str(fields[name]) for name in ("id", "segment", "judge")}


def _to_json(value: object) -> object:
    """Return a cell for JSON. A time without a zone is in UTC; pandas stores whole numbers as floats."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return int(value) if isinstance(value, float) and value.is_integer() else value
