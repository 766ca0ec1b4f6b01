"""A campaign's settings from words on the command line, and in words for people."""

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
LONGEST_LIST = 20  # names shown of a long list
TYPES = get_type_hints(events.CampaignSettings, include_extras=True)
_DEFAULTS = msgspec.structs.asdict(events.CampaignSettings())


def settings_from(given: Iterable[str], flags: Mapping[str, str | None]) -> dict[str, Any]:
    """Read settings from `--setting` and from the flags, each by its field's type."""
    values: dict[str, Any] = {}
    for name, text in [*pairs_of(given, option="--setting"), *flags.items()]:
        if text is None:
            continue
        if name not in TYPES:
            raise click.UsageError(f"no setting {name!r}; {suggestion(name, TYPES)}")
        if name in values:
            raise click.UsageError(f"{name} is given twice")
        values[name] = _setting(name, text)
    return values


def _setting(name: str, text: str) -> object:
    hint = TYPES[name]
    try:
        value = _listed(text) if _takes(hint, tuple) else msgspec.json.decode(text) if _takes(hint, dict) else text
        return msgspec.convert(value, hint, strict=value is not text)
    except msgspec.DecodeError as error:
        raise click.UsageError(f"{name} is {safe(text)!r}: {error}") from None


def _listed(text: str) -> list[str]:
    if not text.startswith("@"):
        return [part.strip() for part in text.split(",")] if text else []
    try:
        return [line.strip() for line in Path(text[1:]).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{text[1:]}: can't be read: {error}") from None


def _parts(hint: Any) -> Iterator[Any]:
    """Walk through a type hint, down to what is no choice and has no notes."""
    yield hint
    if get_origin(hint) in (Annotated, Union, UnionType):
        for part in get_args(hint):
            yield from _parts(part)


def _takes(hint: Any, kind: type) -> bool:
    return any(get_origin(part) is kind for part in _parts(hint))


def pairs_of(given: Iterable[str], *, option: str) -> list[tuple[str, str]]:
    """Take NAME=VALUE apart."""
    for text in given:
        if "=" not in text:
            raise click.UsageError(f"{option} {text!r}: write NAME=VALUE")
    parts = [text.partition("=") for text in given]
    return [(name.strip().replace("-", "_"), value) for name, _, value in parts]


def scalar(text: str) -> object:
    """Read a number or a truth value as such, anything else as text.

    >>> scalar("2"), scalar("0.5"), scalar("true"), scalar("baseline")
    (2, 0.5, True, 'baseline')
    """
    try:
        return msgspec.json.decode(text, type=bool | int | float | str)
    except msgspec.DecodeError:
        return text


def about(name: str) -> str:
    """Describe a setting by its field."""
    notes = [part.description for part in _parts(TYPES[name]) if isinstance(part, msgspec.Meta) and part.description]
    default = shown(_DEFAULTS[name])
    return " ".join([*notes, *([f"[default: {default}]"] if default != NOTHING else [])])


def shown(value: object) -> str:
    """Write a setting's value for people.

    >>> shown(("a", "b")), shown(None), shown({"beta": 2.0})
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
