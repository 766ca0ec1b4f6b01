"""Features of the outputs that a judge compared: their length and their Markdown, given as columns or counted in texts.

They are read only if a ranking controls them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from streams.errors import ParameterError, RecordError
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from streams.wire.events import Judgment

MARKDOWN = ("headers", "lists", "bold")
COUNTED = ("length", *MARKDOWN)  # features that are counted in texts
GROUPS = {"markdown": MARKDOWN}
SHOWN = 20  # columns in a message
MOST = 16  # features of one ranking
KEPT = 20_000  # judgments whose features wait for the judgment; a row has at most half as many

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_CODE = re.compile(r"```.*?```", re.DOTALL)
_PATTERNS = {
    "headers": re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE),
    "lists": re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE),
    "bold": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
}
_ASKING = frozenset(("user", "human", "system", "prompter", "developer"))  # roles whose messages are no output
# What LMArena publishes beside a conversation: a number, or an object of numbers.
_METADATA = "conv_metadata"
_IN_METADATA = {
    "length": "sum_assistant_{}_tokens",
    "headers": "header_count_{}",
    "lists": "list_count_{}",
    "bold": "bold_count_{}",
}


def parse_features(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features to control. `markdown` stands for headers, lists and bold.

    >>> parse_features("length,markdown")
    ('length', 'headers', 'lists', 'bold')
    """
    given = text.split(",") if isinstance(text, str) else list(text)
    found: dict[str, None] = {}
    for name in (each.strip().lower() for each in given):
        if not _NAME.fullmatch(name):
            raise ParameterError(
                f"control: {quote(name)} is not the name of a feature; use length, markdown, headers, lists, bold, or "
                "NAME of two columns NAME_a and NAME_b"
            )
        found |= dict.fromkeys(GROUPS.get(name, (name,)))
    if len(found) > MOST:
        raise ParameterError(f"control: {len(found)} features; at most {MOST} can be controlled")
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class OutputColumns:
    """Where a layout has the two outputs: the names of their systems and, if the file has them, their texts.

    Numbers are in columns with the suffixes, for example length_a and length_b.
    """

    systems: tuple[tuple[str, str], ...]  # the first pair that is there counts
    texts: tuple[tuple[str, str], ...] = ()
    suffixes: tuple[str, str] = ("_a", "_b")

    def columns(self, names: Sequence[str]) -> Iterator[str]:
        """Yield the columns that these features may be in."""
        for pair in self.texts:
            yield from pair
        for name in names:
            yield from (name + suffix for suffix in self.suffixes)
        yield _METADATA


@dataclass
class OutputFeatures:
    """The features of the outputs of each judgment, while a log is read. `names` are those that are wanted."""

    names: tuple[str, ...]
    fields: tuple[str, ...] = ()  # of the first row, for messages
    _found: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)  # by judgment id and system

    def observe(self, row: Mapping[str, object], judgments: Sequence[Judgment], outputs: OutputColumns | None) -> None:
        """Read the features of a row. `row` has the names of its fields in lower case."""
        self.fields = self.fields or tuple(row)
        if outputs is None or not judgments:
            return
        sides = next((pair for pair in outputs.systems if pair[0] in row and pair[1] in row), None)
        if sides is None:
            return
        found = [self._read(row, outputs, side) for side in (0, 1)]
        if found[0] is not None and found[1] is not None:
            by_system = dict(zip([_name(row[side]) for side in sides], (found[0], found[1]), strict=True))
            for judgment in judgments:
                self.put(judgment, by_system)

    def observe_texts(self, fields: Iterable[str], judgment: Judgment, texts: Mapping[str, object]) -> None:
        """Count the features in the outputs of a judgment, by system. `fields` are those of the row, for messages."""
        self.fields = self.fields or tuple(fields)
        if set(self.names) <= set(COUNTED):
            counts = {system: _count_first(texts, [system]) for system in texts}
            self.put(judgment, {s: tuple(found[name] for name in self.names) for s, found in counts.items() if found})

    def put(self, judgment: Judgment, by_system: dict[str, tuple[float, ...]]) -> None:
        """Keep the features of a judgment until it is taken from its batch."""
        self._found.setdefault(judgment.id, by_system)
        if len(self._found) > KEPT:
            for old in list(self._found)[: KEPT // 2]:
                del self._found[old]

    def of(self, judgment: Judgment) -> list[tuple[float, ...]] | None:
        """Return the features of each system of a judgment, or None if one of them is not known.

        A judgment without a row has them as tags, one number per system: {"length": "120|87"}.
        """
        if by_system := self._found.get(judgment.id):
            found = [by_system.get(system) for system in judgment.systems]
            return None if None in found else [values for values in found if values is not None]
        tags = judgment.tags or {}
        numbers = [_parse_tag(tags.get(name)) for name in self.names]
        if any(len(each) != len(judgment.systems) for each in numbers):
            return None
        return list(zip(*numbers, strict=True))

    def _read(self, row: Mapping[str, object], outputs: OutputColumns, side: int) -> tuple[float, ...] | None:
        counts: dict[str, float] | None = None
        values: list[float] = []
        for name in self.names:
            value = _number(row, name + outputs.suffixes[side])
            if value is None:
                value = _from_metadata(row, name, "ab"[side])
            if value is None and name in COUNTED:
                if counts is None:
                    counts = _count_first(row, [pair[side] for pair in outputs.texts])
                value = counts.get(name)
            if value is None:
                return None
            values.append(value)
        return tuple(values)


def count_features(text: str) -> dict[str, float]:
    r"""Return the length of a text in characters, and its headers, list items and bold parts outside of code blocks.

    >>> count_features("# Title\n- one\n- **two**\n")
    {'length': 23.0, 'headers': 1.0, 'lists': 2.0, 'bold': 1.0}
    """
    prose = _CODE.sub("", text) if "```" in text else text
    counts = {name: float(sum(1 for _ in pattern.finditer(prose))) for name, pattern in _PATTERNS.items()}
    return {"length": float(len(text.strip()))} | counts


def output_texts(value: object) -> list[str]:
    """Return the texts of an output: a text, or the answers of a conversation. A table writes a conversation as JSON.

    >>> output_texts('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]')
    ['Hello']
    """
    if isinstance(value, str):
        if value.lstrip()[:2] in ("[{", '["', "[n"):
            try:
                return output_texts(msgspec.json.decode(value))
            except (msgspec.MsgspecError, RecursionError):
                return [value]
        return [value]
    if isinstance(value, dict):
        if str(value.get("role", value.get("from", ""))).lower() in _ASKING:
            return []
        return output_texts(value.get("content", value.get("text", value.get("value"))))
    if isinstance(value, list):
        return [text for part in value for text in output_texts(part)]
    return []


def _count_first(row: Mapping[str, object], columns: Sequence[str]) -> dict[str, float]:
    """Return the features of the first of these columns that has a text."""
    for column in columns:
        if texts := output_texts(row.get(column)):
            counts = [count_features(text) for text in texts]
            return {name: sum(each[name] for each in counts) for name in COUNTED}
    return {}


def _name(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(row: Mapping[str, object], column: str) -> float | None:
    value = row.get(column)
    if value is None or value == "" or value != value:
        return None
    try:
        number = float(value) if isinstance(value, (str, int, float)) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RecordError("invalid_value", f"{quote(value)} is not a number", field=column)
    return number


def _from_metadata(row: Mapping[str, object], name: str, side: str) -> float | None:
    value = row.get(_METADATA)
    if value is None or name not in _IN_METADATA:
        return None
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, RecursionError):
            return None
    found = value.get(_IN_METADATA[name].format(side)) if isinstance(value, dict) else None
    numbers = list(found.values()) if isinstance(found, dict) else [found]
    known = [float(each) for each in numbers if isinstance(each, (int, float)) and math.isfinite(each)]
    return sum(known) if len(known) == len(numbers) else None


def _parse_tag(text: str | None) -> list[float]:
    try:
        found = [float(part) for part in (text or "").split("|")]
    except ValueError:
        return []
    return found if all(map(math.isfinite, found)) else []


def explain_missing(features: OutputFeatures, *, name: str) -> str:
    """Return why no judgment of a log can be controlled, and the way out."""
    first = next((each for each in features.names if each not in COUNTED), features.names[0])
    texts = ", or texts such as response_a and response_b" if first in COUNTED else ""
    mapped = " or text_a=COLUMN,text_b=COLUMN" if first in COUNTED else ""
    shown = [quote(each) for each in sorted(features.fields)[:SHOWN]]
    more = f", and {len(features.fields) - SHOWN:,} more" if len(features.fields) > SHOWN else ""
    return (
        f"{name}: no judgment has {', '.join(features.names)} of both outputs. The file has the columns "
        f"{', '.join(shown) or '(none that are known)'}{more}. Add the columns {first}_a and {first}_b with a number "
        f"per output{texts}; other names are mapped with --columns, e.g. {first}_a=COLUMN,{first}_b=COLUMN{mapped}"
    )
