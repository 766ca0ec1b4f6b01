"""Damage what a file means, not its bytes: columns in another order, values of another type, cells that are huge."""

from __future__ import annotations

import csv
import io
import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

    Document = dict[str, Any] | list[Any]

TEXTS = (
    "",
    " ",
    "x",
    "NaN",
    "null",
    "[]",
    "{}",
    "-1",
    "0",
    "1.5",
    "1e400",
    "9" * 40,
    "true",
    "=1+1",
    '"',
    "a|b",
    "é",
    "\x1b[2J",
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 3.7, 1e308, 10**30, [], [[]], {}, {"a": {}}, [None], [1, "a"], {"": None}),
    *([[[[[[[[[[]]]]]]]]]], [{}] * 300, {"role": None}, [{"role": 1, "content": [{"text": {}}]}]),
)


def restructured(chance: random.Random, data: bytes, huge: int) -> bytes:
    """Return a file with some of its columns, keys or values changed, or as it is if it is neither a table nor JSON."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    if text.lstrip()[:1] in ("[", "{"):
        return _json(chance, text, huge)
    return _table(chance, text, huge) if "," in text or "\t" in text else data


def reordered(chance: random.Random, data: bytes) -> bytes | None:
    """Return the same file with its columns or keys in another order, or None if it has neither."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if text.lstrip()[:1] in ("[", "{"):
        return b"\n".join(json.dumps(_shuffled(chance, each)).encode() for each in _documents(text)) + b"\n"
    rows, delimiter = _rows(text)
    if len({len(row) for row in rows}) != 1 or len(rows) < 2:
        return None
    order = chance.sample(range(len(rows[0])), len(rows[0]))
    return _written([[row[k] for k in order] for row in rows], delimiter)


def _json(chance: random.Random, text: str, huge: int) -> bytes:
    documents = _documents(text)
    for _ in range(chance.choice((1, 1, 2, 5))):
        places = list(_places(documents))
        holder, key = chance.choice(places)
        kind = chance.randrange(6)
        if kind == 0 and isinstance(holder, dict):
            del holder[key]
        elif kind == 1:
            holder[key] = "x" * huge
        elif kind == 2:
            holder[key] = chance.choice(TEXTS)
        elif kind == 3 and isinstance(holder, dict):
            holder[chance.choice(TEXTS)] = holder.pop(key)
        else:
            holder[key] = deepcopy(chance.choice(VALUES))
    return b"\n".join(json.dumps(each).encode() for each in documents) + b"\n"


def _table(chance: random.Random, text: str, huge: int) -> bytes:
    rows, delimiter = _rows(text)
    if not rows or not rows[0]:
        return text.encode()
    for _ in range(chance.choice((1, 1, 2, 5))):
        row, column = chance.randrange(len(rows)), chance.randrange(len(rows[0]))
        kind = chance.randrange(7)
        if kind == 0:
            order = chance.sample(range(len(rows[0])), len(rows[0]))
            rows = [[each[k] for k in order if k < len(each)] for each in rows]
        elif kind == 1:
            rows = [each[:column] + each[column + 1 :] for each in rows]
        elif kind == 2:
            value = chance.choice(TEXTS)
            rows[1:] = [[*each[:column], value, *each[column + 1 :]] for each in rows[1:]]
        elif kind == 3:
            rows[row] = rows[row][:column]
        elif kind == 4:
            rows[row] = [*rows[row], *["x"] * chance.choice((1, 50))]
        elif column < len(rows[row]):
            rows[row][column] = "x" * huge if kind == 5 else chance.choice(TEXTS)
        if not rows[0]:
            break
    return _written(rows, delimiter)


def _documents(text: str) -> list[Any]:
    decoder, place, found = json.JSONDecoder(), 0, []
    while place < len(text.rstrip()):
        place += len(text[place:]) - len(text[place:].lstrip())
        document, place = decoder.raw_decode(text, place)
        found.append(document)
    return found


def _places(value: Any) -> Any:
    """Yield each list or object in a document, with each of its places."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(items):
        yield value, key
        yield from _places(part)


def _shuffled(chance: random.Random, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shuffled(chance, value[key]) for key in chance.sample(list(value), len(value))}
    return [_shuffled(chance, each) for each in value] if isinstance(value, list) else value


def _rows(text: str) -> tuple[list[list[str]], str]:
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    return list(csv.reader(io.StringIO(text), delimiter=delimiter)), delimiter


def _written(rows: list[list[str]], delimiter: str) -> bytes:
    found = io.StringIO()
    csv.writer(found, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return found.getvalue().encode()
