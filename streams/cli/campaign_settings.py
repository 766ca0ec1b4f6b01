"""Settings of a campaign: read from the command line, and written as text."""

from __future__ import annotations

from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

import click
import msgspec

from streams.cli.terminal import safe
from streams.errors import suggestion
from streams.wire import events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NOTHING = "-"
LONGEST_LIST = 20  # items that are printed of a long list
TYPES = get_type_hints(events.CampaignSettings, include_extras=True)
_DEFAULTS = msgspec.structs.asdict(events.CampaignSettings())


def parse_settings(given: Iterable[str], flags: Mapping[str, str | None]) -> dict[str, Any]:
    """Read settings from `--setting` and from flags, each by the type of its field."""
    values: dict[str, Any] = {}
    for name, text in [*parse_pairs(given, option="--setting"), *flags.items()]:
        if text is None:
            continue
        if name not in TYPES:
            raise click.UsageError(f"no setting {name!r}; {suggestion(name, TYPES)}")
        if name in values:
            raise click.UsageError(f"{name} is given twice")
        values[name] = _parse_setting(name, text)
    return values


def _parse_setting(name: str, text: str) -> object:
    hint = TYPES[name]
    try:
        if name == "gold":
            return _parse_gold(text)
        value = _parse_list(text) if _takes(hint, tuple) else msgspec.json.decode(text) if _takes(hint, dict) else text
        return msgspec.convert(value, hint, strict=_takes(hint, dict))  # text becomes a number where one is needed
    except msgspec.DecodeError as error:
        if name == "score_range":
            raise click.UsageError(f"{name} is {safe(text)!r}: write two numbers, for example 1,7") from None
        raise click.UsageError(f"{name} is {safe(text)!r}: {error}") from None


def _parse_gold(text: str) -> tuple[events.GoldItem, ...]:
    """Read gold items: a JSON array, or @FILE with one JSON object per line."""
    if text.startswith("@"):
        text = f"[{','.join(read_names(text[1:]))}]"
    return msgspec.json.decode(text or "[]", type=tuple[events.GoldItem, ...])


def _parse_list(text: str) -> list[str]:
    if text.startswith("@"):
        return read_names(text[1:])
    return [part.strip() for part in text.split(",")] if text else []


def read_names(file: str) -> list[str]:
    """Read a file with one name per line. Empty lines are ignored."""
    try:
        return [line.strip() for line in Path(file).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file}: can't be read: {error}") from None


def _parts(hint: Any) -> Iterator[Any]:
    """Yield a type hint and, of a union or an annotated type, its parts."""
    yield hint
    if get_origin(hint) in (Annotated, Union, UnionType):
        for part in get_args(hint):
            yield from _parts(part)


def _takes(hint: Any, kind: type) -> bool:
    return any(get_origin(part) is kind for part in _parts(hint))


def parse_pairs(given: Iterable[str], *, option: str) -> list[tuple[str, str]]:
    """Split each NAME=VALUE into name and value."""
    for text in given:
        if "=" not in text:
            raise click.UsageError(f"{option} {text!r}: write NAME=VALUE")
    parts = [text.partition("=") for text in given]
    return [(name.strip().replace("-", "_"), value) for name, _, value in parts]


def parse_scalar(text: str) -> events.Parameter:
    """Read a number or a boolean; anything else is text.

    >>> parse_scalar("2"), parse_scalar("0.5"), parse_scalar("true"), parse_scalar("baseline")
    (2, 0.5, True, 'baseline')
    """
    try:
        return msgspec.json.decode(text, type=bool | int | float | str)
    except msgspec.DecodeError:
        return text


def describe(name: str) -> str:
    """Return the description and the default of a setting."""
    notes = [part.description for part in _parts(TYPES[name]) if isinstance(part, msgspec.Meta) and part.description]
    default = format_value(_DEFAULTS[name])
    return " ".join(notes) + (f"  [default: {default}]" if default != NOTHING else "")


def format_value(value: object) -> str:
    """Return the value of a setting as text.

    >>> format_value(("a", "b")), format_value(None), format_value({"beta": 2.0})
    ('a, b', '-', 'beta=2.0')
    """
    if value is None or value in ((), {}):
        return NOTHING
    if isinstance(value, dict):
        return ", ".join(safe(f"{name}={part}") for name, part in value.items())
    if isinstance(value, tuple):
        more = [f"... {len(value) - LONGEST_LIST:,} more"] if len(value) > LONGEST_LIST else []
        return ", ".join([*(safe(str(part)) for part in value[:LONGEST_LIST]), *more])
    return safe(str(value))
