"""From the body of a request to valid judgments, or to an error that names the first wrong item and field."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, structs

from streams import formats
from streams.errors import FormatError, RecordError
from streams.formats import RowError
from streams.wire.decoding import decode, quote
from streams.wire.events import Judgment, encode
from streams.wire.limits import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

NDJSON = "application/x-ndjson"
FIRST_YEAR = 1971  # an earlier time means that none was given


class _Envelope(Struct):
    judgments: list[Raw] | UnsetType = UNSET


class _Given(Struct):
    """The fields that may be omitted. Their values are checked later."""

    campaign: Raw | UnsetType = UNSET
    at: Raw | UnsetType = UNSET


_envelopes = msgspec.json.Decoder(_Envelope)
_lists = msgspec.json.Decoder(list[Raw])
_given = msgspec.json.Decoder(_Given)


def judgments_in(
    body: bytes, *, campaign: str, now: datetime, max_bytes: int, in_lines: bool = False
) -> list[Judgment]:
    """Return the judgments of a body: one, a list, `{"judgments": [...]}` or lines.

    Raise RecordError for the first that is not valid.
    """
    try:
        items, alone = _items(body, in_lines=in_lines)
    except RecursionError:
        raise RecordError("too_deep", f"the JSON is nested more than {MAX_DEPTH} levels deep") from None
    except msgspec.ValidationError:
        raise RecordError("invalid_value", "`judgments` must be a list of judgments", field="judgments") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("invalid_json", f"not JSON: {error}") from None
    if not items:
        raise RecordError("empty", "the request has no judgment; send at least one")
    found = []
    for number, item in enumerate(items):
        try:
            found.append(_judgment(item, campaign=campaign, now=now, max_bytes=max_bytes))
        except RecordError as error:
            if alone:
                raise
            place = f"judgments[{number}]"
            field = f"{place}.{error.field}" if error.field else place
            raise RecordError(error.reason, f"{place}: {error.message}", field=field) from None
    return found


def _items(body: bytes, *, in_lines: bool) -> tuple[Sequence[bytes], bool]:
    """Return the items of a body, and whether it is a single judgment."""
    if in_lines:
        return [line for line in body.splitlines() if line.strip()], False
    text = body.strip()
    if text.startswith(b"["):
        return [bytes(item) for item in _lists.decode(text)], False
    if text.startswith(b"{"):
        listed = _envelopes.decode(text).judgments
        if listed is not UNSET:
            return [bytes(item) for item in listed], False
    return [text], True


def _judgment(item: bytes, *, campaign: str, now: datetime, max_bytes: int) -> Judgment:
    event = decode(_complete(item.strip(), campaign=campaign, now=now), max_bytes=max_bytes)
    if not isinstance(event, Judgment):
        raise RecordError(
            "invalid_value",
            "this is a command; only judgments may be posted, so send it with `judgestream campaign`",
            field="action",
        )
    if event.campaign != campaign:
        message = f"`campaign` is {quote(event.campaign)}, but the path names {campaign}"
        raise RecordError("invalid_value", message, field="campaign")
    return event


def _complete(item: bytes, *, campaign: str, now: datetime) -> bytes:
    """Return an item with the fields that may be omitted: the campaign of the path, and the current time."""
    if not item.startswith(b"{"):
        return item
    try:
        given = _given.decode(item)
    except (msgspec.DecodeError, RecursionError):
        return item  # `decode` explains what is wrong
    missing = {} if given.campaign is not UNSET else {"campaign": campaign}
    if given.at is UNSET:
        missing["at"] = now.isoformat()
    if not missing:
        return item
    rest = item[1:].lstrip()
    return encode(missing)[:-1] + (b"" if rest.startswith(b"}") else b",") + rest


def label_studio_judgments(body: bytes, *, campaign: str, now: datetime) -> list[Judgment]:
    """Return the judgments of a Label Studio webhook. An event without a verdict has none."""
    try:
        entries = formats.read(BytesIO(body), format="label-studio", campaign=campaign)
        found = [judgment for batch in entries.batches() for judgment in batch.judgments]
    except RowError as error:
        raise RecordError(error.reason, str(error).removeprefix(f"{error.file}:"), field=error.field) from None
    except FormatError as error:
        raise RecordError("invalid_json", str(error)) from None
    return [structs.replace(each, at=now) if each.at.year < FIRST_YEAR else each for each in found]
