"""From bytes to events: every record becomes a sound event, or a RecordError that says why it is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from streams.errors import RecordError
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.events import LATEST, Command, Judgment, encode
from streams.wire.limits import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_judgments = msgspec.json.Decoder(Judgment)
_commands: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_sound_names: set[str] = set()  # of campaigns that came before
_REMEMBERED = 10_000
# No judgment of so few bytes is nested too deep: it has 100 bytes at least, and a level takes two more.
_SHORT = 100 + 2 * MAX_DEPTH


def decode(value: bytes | None, *, max_bytes: int) -> Judgment | Command:
    """Turn a record of the log into its event."""
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
    """Turn records into judgments, all at once and so faster; None if `decode` has to look at them one by one."""
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
    """Turn a record of the command topic into its command."""
    return _decode_command(_bounded(value, max_bytes))


def quote(value: object, limit: int = 60) -> str:
    """Quote a foreign value for a message: escaped, and cut where it is long.

    >>> quote("a" * 100, limit=5)
    "'aaaa…'"
    """
    if isinstance(value, str):
        return repr(_cut(value, limit))
    return _cut(encode(value).decode(), limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _bounded(value: bytes | None, max_bytes: int) -> bytes:
    """Refuse what the decoder should not be given: nothing, too much, broken text, bottomless nesting."""
    if not value:
        raise RecordError("empty", "the record has no value; publish the event as JSON")
    if len(value) > max_bytes:
        raise RecordError("too_large", f"the record has {len(value)} bytes; at most {max_bytes} are accepted")
    if not value.isascii():
        try:
            value.decode()  # the decoder skips unknown fields, and would let broken text in them pass
        except UnicodeDecodeError as error:
            raise RecordError("invalid_utf8", f"not UTF-8: {error.reason} at byte {error.start}") from None
    if value.count(b"[") + value.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        # The decoder has a limit too, but where it lies depends on who calls it, and on which Python.
        raise RecordError("too_deep", f"the JSON is nested more than {MAX_DEPTH} levels deep")
    return value


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def _depth(value: bytes) -> int:
    depth = deepest = 0
    for token in _TOKEN.finditer(value):
        if token[0] in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in (b"]", b"}"):
            depth -= 1
    return deepest


def check(judgment: Judgment) -> None:
    """Check what the decoder does not; RecordError where a judgment is not sound."""
    if judgment.campaign not in _sound_names:
        check_campaign(judgment.campaign)
    systems, ranks = judgment.systems, judgment.ranks
    if judgment.at > LATEST:
        raise _too_far(judgment.at)
    if ranks is None:
        if judgment.score is None:
            raise RecordError(
                "missing_field", "a judgment has `ranks` (or, for a direct assessment, `score`)", field="ranks"
            )
        if len(systems) != 1:
            raise RecordError(
                "length_mismatch", f"a `score` is of one system, but `systems` names {len(systems)}", field="systems"
            )
        return
    if judgment.score is not None:
        raise RecordError("ranks_or_score", "a judgment has `ranks` or `score`, not both", field="score")
    if len(systems) < 2:
        raise RecordError(
            "too_few_systems", f"a ranking needs two systems or more, not only {quote(systems[0])}", field="systems"
        )
    if len(ranks) != len(systems):
        raise RecordError(
            "length_mismatch", f"{len(systems)} systems but {len(ranks)} ranks; give one rank a system", field="ranks"
        )
    if len(set(systems)) != len(systems):
        twice = next(name for name in systems if systems.count(name) > 1)
        raise RecordError("duplicate_system", f"the system {quote(twice)} is named twice", field="systems")


def check_campaign(name: str) -> None:
    """Raise a RecordError if this is no name of a campaign."""
    if not is_campaign_name(name):
        message = f"`campaign` is {quote(name)}; {CAMPAIGN_RULE}"
        raise RecordError("invalid_value", message, field="campaign")
    if len(_sound_names) >= _REMEMBERED:
        _sound_names.clear()
    _sound_names.add(name)


def _too_far(at: datetime) -> RecordError:
    return RecordError("invalid_value", f"`at` is {at}: no time beyond {LATEST.year} is accepted", field="at")


class _Kind(Struct):
    """The fields that tell what a record was meant to be."""

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


_PATH = re.compile(r" - at `\$\.?([^`]*)`$")
_MISSING = re.compile(r"^Object missing required field `([^`]*)`")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def _explained(value: bytes, error: ValueError) -> RecordError:
    """Turn a decoder's complaint into a reason, a field and a message with the value that was found."""
    if not isinstance(error, msgspec.ValidationError):
        return RecordError("invalid_json", f"not JSON: {error}")
    version = _kind(value).version
    if version is not None and not (isinstance(version, str) and re.match(r"1(\.|$)", version)):
        # Whatever else is wrong: the fields of another version are not ours to judge.
        return RecordError("unknown_version", f"`version` is {quote(version)}: this is version 1", field="version")
    text = str(error)
    found = _PATH.search(text)
    path = found[1] if found else ""
    if missing := _MISSING.search(text):
        field = f"{path}.{missing[1]}" if path else missing[1]
        return RecordError("missing_field", f"the field `{field}` is missing", field=field)
    message = _cut(_PATH.sub("", text), 300)
    if not path:
        return RecordError("invalid_value", message)
    if _STEP.findall(path)[0][1] == "judge":
        # A message may be logged or shown where a judge's id may not.
        return RecordError("invalid_value", f"`{path}`, whose value is not shown here: {message}", field=path)
    return RecordError("invalid_value", f"`{path}` is {_value_at(value, path)}: {message}", field=path)


def _value_at(value: bytes, path: str) -> str:
    try:
        node = msgspec.json.decode(value)
        for index, name in _STEP.findall(path):
            node = node[int(index)] if index else node[name]
    except (ValueError, LookupError, TypeError):
        return "not readable"  # such as a number beyond any float: only its place is known
    return quote(node)
