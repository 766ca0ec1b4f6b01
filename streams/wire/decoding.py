"""From bytes to events: a record becomes a valid event, or a RecordError with the reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from streams.errors import RecordError
from streams.quoting import cut, safe
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.events import LATEST, Command, Judgment, encode
from streams.wire.limits import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_judgments = msgspec.json.Decoder(Judgment)
_commands: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_checked_names: set[str] = set()  # campaign names that are valid
_MAX_CHECKED_NAMES = 10_000
# A shorter judgment is never nested too deeply: it needs at least 100 bytes, and two more per level.
_SHORT = 100 + 2 * MAX_DEPTH


def decode(value: bytes | None, *, max_bytes: int) -> Judgment | Command:
    """Return the event of a record of the log. Raise RecordError if the record is not valid."""
    value = _bounded(value, max_bytes)
    try:
        judgment = _judgments.decode(value)
    except ValueError as error:
        if _is_command(value):
            return _decode_command(value)
        raise _explained(value, error) from None
    check(judgment)
    return judgment


def decode_all(values: Sequence[bytes | None], *, max_bytes: int) -> list[Judgment] | None:
    """Return the judgments of several records, which is faster than one by one. Return None if one needs `decode`."""
    given = [value for value in values if value]
    if len(given) != len(values):
        return None
    try:
        for value in given:
            if len(value) > _SHORT:
                _bounded(value, max_bytes)
        text = b"\n".join(given)
        if not text.isascii():
            text.decode()
        judgments = list(map(_judgments.decode, given))
        for judgment in judgments:
            check(judgment)
    except (RecordError, ValueError, RecursionError):
        return None
    return judgments


def decode_command(value: bytes | None, *, max_bytes: int) -> Command:
    """Return the command of a record. Raise RecordError if the record is not valid."""
    return _decode_command(_bounded(value, max_bytes))


def quote(value: object, limit: int = 60) -> str:
    """Return a value for use in a message: escaped, and cut if it is long.

    >>> quote("a" * 100, limit=5)
    "'aaaa…'"
    """
    if isinstance(value, str):
        return repr(cut(value, limit))
    try:
        return safe(cut(encode(value).decode(), limit))
    except (ValueError, OverflowError, TypeError):  # half a character, a number that is too large, another type
        return f"a value of the type {type(value).__name__}"


def _bounded(value: bytes | None, max_bytes: int) -> bytes:
    """Check size, encoding and nesting, before the decoder sees the value."""
    if not value:
        raise RecordError("empty", "the record has no value; publish the event as JSON")
    if len(value) > max_bytes:
        raise RecordError("too_large", f"the record has {len(value)} bytes; at most {max_bytes} are accepted")
    if not value.isascii():
        try:
            value.decode()  # the decoder does not check the text of unknown fields
        except UnicodeDecodeError as error:
            raise RecordError("invalid_utf8", f"not UTF-8: {error.reason} at byte {error.start}") from None
    if value.count(b"[") + value.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        # The decoder has its own limit, but it depends on the caller and on the version of Python.
        raise RecordError("too_deep", f"the JSON is nested more than {MAX_DEPTH} levels deep")
    return value


_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))


def _depth(value: bytes) -> int:
    """Return how deep brackets are nested, in a time that grows with the size and no faster.

    What is not JSON may get another depth after its first mistake, where the decoder stops anyway.
    """
    import numpy as np  # not at the top: few records have so many brackets, and few commands need it

    unescaped = value.replace(rb"\\", b"").replace(rb"\"", b"")
    signs = np.frombuffer(unescaped.translate(None, _NOT_STRUCTURE), np.uint8)
    quotes = signs == ord('"')
    brackets = signs[~quotes & (quotes.cumsum() % 2 == 0)]  # those outside of strings
    opened = (brackets == ord("[")) | (brackets == ord("{"))
    return int(np.where(opened, 1, -1).cumsum().max(initial=0))


def check(judgment: Judgment) -> None:
    """Check the rules that the decoder does not know. Raise RecordError if the judgment breaks one."""
    if judgment.campaign not in _checked_names:
        check_campaign(judgment.campaign)
    systems, ranks = judgment.systems, judgment.ranks
    if judgment.at > LATEST:
        raise _too_far(judgment.at)
    if judgment.replaces is not None and judgment.replaces == judgment.id:
        message = f"`replaces` is {quote(judgment.id)}, the judgment's own id; a changed verdict needs a new id"
        raise RecordError("invalid_value", message, field="replaces")
    if ranks is None:
        if judgment.score is None:
            raise RecordError(
                "missing_field", "a judgment needs `ranks`, or `score` for a direct assessment", field="ranks"
            )
        if len(systems) != 1:
            raise RecordError(
                "length_mismatch",
                f"a `score` needs exactly one system, but `systems` has {len(systems)}",
                field="systems",
            )
        return
    if judgment.score is not None:
        raise RecordError("ranks_or_score", "a judgment may have `ranks` or `score`, but not both", field="score")
    if len(systems) < 2:
        raise RecordError(
            "too_few_systems",
            f"a ranking needs two or more systems, but it has only {quote(systems[0])}",
            field="systems",
        )
    if len(ranks) != len(systems):
        raise RecordError(
            "length_mismatch",
            f"{len(systems)} systems but {len(ranks)} ranks; one rank per system is needed",
            field="ranks",
        )
    if len(set(systems)) != len(systems):
        twice = next(name for name in systems if systems.count(name) > 1)
        raise RecordError("duplicate_system", f"the system {quote(twice)} is listed twice", field="systems")


def check_campaign(name: str) -> None:
    """Raise RecordError if this is not a valid campaign name."""
    if not is_campaign_name(name):
        message = f"`campaign` is {quote(name)}; {CAMPAIGN_RULE}"
        raise RecordError("invalid_value", message, field="campaign")
    if len(_checked_names) >= _MAX_CHECKED_NAMES:
        _checked_names.clear()
    _checked_names.add(name)


def _too_far(at: datetime) -> RecordError:
    return RecordError(
        "invalid_value", f"`at` is {at}: times from the year {LATEST.year} on are not accepted", field="at"
    )


class _Kind(Struct):
    """The fields that show which kind of event a record is."""

    action: object = None
    systems: object = None
    version: object = None


def _kind(value: bytes) -> _Kind:
    try:
        return msgspec.json.decode(value, type=_Kind)
    except ValueError:
        return _Kind()


def _is_command(value: bytes) -> bool:
    kind = _kind(value)
    return kind.action is not None and kind.systems is None


def _decode_command(value: bytes) -> Command:
    try:
        command = _commands.decode(value)
    except ValueError as error:
        raise _explained(value, error) from None
    if command.at > LATEST:
        raise _too_far(command.at)
    return command


_PATH = re.compile(r" - at (?:`key` in )?`\$\.?([^`]*)`$")
_MISSING = re.compile(r"^Object missing required field `([^`]*)`")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def _explained(value: bytes, error: ValueError) -> RecordError:
    """Return an error with a reason, a field and the value that was found, made of an error of the decoder."""
    if not isinstance(error, msgspec.ValidationError):
        return RecordError("invalid_json", f"not JSON: {error}")
    version = _kind(value).version
    if version is not None and not (isinstance(version, str) and re.match(r"1(\.|$)", version)):
        # The fields of another version may have other rules, so the version is reported first.
        return RecordError("unknown_version", f"`version` is {quote(version)}: this is version 1", field="version")
    text = str(error)
    found = _PATH.search(text)
    path = found[1] if found else ""
    if missing := _MISSING.search(text):
        field = f"{path}.{missing[1]}" if path else missing[1]
        return RecordError("missing_field", f"the field `{field}` is missing", field=field)
    message = safe(cut(_PATH.sub("", text), 300))
    if not path:
        return RecordError("invalid_value", message)
    if _STEP.findall(path)[0][1] == "judge":
        # The id of a judge is private, but messages are logged.
        return RecordError("invalid_value", f"`{path}`, whose value is private: {message}", field=path)
    return RecordError("invalid_value", f"`{path}` is {_value_at(value, path)}: {message}", field=path)


def _value_at(value: bytes, path: str) -> str:
    try:
        node = msgspec.json.decode(value)
        for index, name in _STEP.findall(path):
            node = node[int(index)] if index else node[name]
    except (ValueError, LookupError, TypeError):
        return "not readable"  # e.g. a number that is too large for a float
    return quote(node)
