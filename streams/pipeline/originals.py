"""The bytes of a record as they may leave the log: the judge's id is replaced by a pseudonym."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from streams.core.campaign.pseudonyms import MARK
from streams.wire.events import encode
from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

_fields: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(dict[str, msgspec.Raw])
# What can't be read may spell a field in many ways: with escapes, or in UTF-16.
_MAY_NAME_A_JUDGE = re.compile(rb"judge|[\\\0]", re.IGNORECASE)


class Original(NamedTuple):
    """A record without a judge's id, and the id of its judgment or command if it can be read."""

    value: bytes
    id: str | None = None


def without_judge(value: bytes | None, pseudonyms: Mapping[str, str] | None) -> Original:
    """Return a record with `~` and the pseudonym in place of the judge's id. All other fields keep their bytes.

    Bytes that are no JSON object are kept if they can't name a judge, and described otherwise.

    >>> from streams.core.campaign.pseudonyms import Pseudonyms
    >>> without_judge(b'{"id": "1", "judge": "alice"}', Pseudonyms(b"key"))
    Original(value=b'{"id":"1","judge":"~76fb55e929c06b97b01c"}', id='1')
    >>> without_judge(b'{"judge": "alice"', Pseudonyms(b"key")).value
    b'"17 bytes that are no JSON object and may hold the id of a judge"'
    """
    if not value:
        return Original(b"")
    try:
        fields = _fields.decode(value)
    except (ValueError, RecursionError):
        if _MAY_NAME_A_JUDGE.search(value):
            value = encode(f"{len(value)} bytes that are no JSON object and may hold the id of a judge")
        return Original(value)
    name = _read_text(fields.get("id"))
    found = Original(value, name if name and len(name) <= MAX_NAME else None)
    if pseudonyms is None or fields.keys().isdisjoint(("judge", "judges", "taken_back")):
        return found
    # A value that is no text can't be a pseudonym, and stays as wrong as it was.
    if "judge" in fields:
        judge = _read_text(fields["judge"])
        fields["judge"] = msgspec.Raw(encode(judge and MARK + pseudonyms[judge]))
    if "judges" in fields:
        judges = _read_texts(fields["judges"])
        fields["judges"] = msgspec.Raw(encode(judges and [MARK + pseudonyms[judge] for judge in judges]))
    if "taken_back" in fields:
        verdicts = _read_verdicts(fields["taken_back"])
        named = verdicts and {judge and MARK + pseudonyms[judge]: each for judge, each in verdicts.items()}
        fields["taken_back"] = msgspec.Raw(encode(named))
    return found._replace(value=encode(fields))


def _read_text(raw: msgspec.Raw | None) -> str | None:
    try:
        return None if raw is None else msgspec.json.decode(raw, type=str)
    except ValueError:
        return None


def _read_verdicts(raw: msgspec.Raw) -> dict[str, msgspec.Raw] | None:
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except ValueError:
        return None


def _read_texts(raw: msgspec.Raw) -> list[str] | None:
    try:
        return msgspec.json.decode(raw, type=list[str])
    except ValueError:
        return None
