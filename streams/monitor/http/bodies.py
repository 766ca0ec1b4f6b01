"""From the body of a request to valid events, or to an error that names the first wrong item and field."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, TypeVar
from uuid import uuid4

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, structs

from streams import formats
from streams.errors import FormatError, RecordError
from streams.formats import RowError
from streams.formats.label_studio import find_revoked
from streams.monitor.http.responses import RequestError
from streams.wire.decoding import decode, decode_command, quote
from streams.wire.events import Judgment, RevokeVerdicts, encode
from streams.wire.fields import Judge, Name  # noqa: TC001 - msgspec reads the annotations
from streams.wire.limits import MAX_DEPTH
from streams.wire.times import check_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from streams.wire.events import Command

NDJSON = "application/x-ndjson"
MOST_REVOKED = 1000  # verdicts in one command
FIRST_YEAR = 1971  # an earlier time means that none was given


Body = TypeVar("Body")


@dataclass(frozen=True)
class PostedJudgments:
    """The judgments of one request, which all belong to one campaign."""

    judgments: list[Judgment]
    alone: bool = True  # not in a list, so an error need not say which one it is about

    def replace_each(self, change: Callable[[Judgment], Judgment]) -> PostedJudgments:
        """Return the same with every judgment changed."""
        return PostedJudgments([change(judgment) for judgment in self.judgments], self.alone)

    def check_each(self, check: Callable[[Judgment], None]) -> None:
        """Check every judgment. An error names the item."""
        for number, judgment in enumerate(self.judgments):
            try:
                check(judgment)
            except RecordError as error:
                raise error if self.alone else _placed(error, number) from None


class RevokeBody(Struct, frozen=True, kw_only=True):
    """The ids of verdicts to take back. With a judge, only those of this judge. `id` is that of the command."""

    judgments: Annotated[list[Name], Meta(min_length=1, max_length=MOST_REVOKED)]
    judge: Judge | None = None
    id: Name | None = None


class _Envelope(Struct):
    judgments: list[Raw] | UnsetType = UNSET


class _Given(Struct):
    """The fields that may be omitted. Their values are checked later."""

    id: Raw | UnsetType = UNSET
    campaign: Raw | UnsetType = UNSET
    at: Raw | UnsetType = UNSET


_envelopes = msgspec.json.Decoder(_Envelope)
_lists = msgspec.json.Decoder(list[Raw])
_given = msgspec.json.Decoder(_Given)


def judgments_in(
    body: bytes, *, campaign: str, now: datetime, max_bytes: int, in_lines: bool = False
) -> PostedJudgments:
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
            raise error if alone else _placed(error, number) from None
    return PostedJudgments(found, alone)


def _placed(error: RecordError, number: int) -> RecordError:
    """Return the error of an item of a list, with its place."""
    place = f"judgments[{number}]"
    field = f"{place}.{error.field}" if error.field else place
    return RecordError(error.reason, f"{place}: {error.message}", field=field)


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
            f"this is a command; post it to /campaigns/{campaign}/commands, or use `judgestream campaign`",
            field="action",
        )
    _check_campaign(event, campaign)
    check_time(event, now.timestamp())
    return event


def _check_campaign(event: Judgment | Command, campaign: str) -> None:
    if event.campaign != campaign:
        message = f"`campaign` is {quote(event.campaign)}, but the path names {campaign}"
        raise RecordError("invalid_value", message, field="campaign")


def command_in(body: bytes, *, campaign: str, now: datetime, max_bytes: int) -> Command:
    """Return the command of a body. Its id, its campaign and its time may be omitted."""
    completed = _complete(body.strip(), campaign=campaign, now=now, new_id=uuid4().hex)
    command = decode_command(completed, max_bytes=max_bytes)
    _check_campaign(command, campaign)
    check_time(command, now.timestamp())
    return command


def read_body(body: bytes, kind: type[Body]) -> Body:
    """Return a body of another kind. An error names the field, and not its value, which may be a judge's id."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        missing = problem.removeprefix("Object missing required field `") if "missing" in problem else ""
        field = (missing or path.partition(".")[2]).strip("`") or None
        raise RequestError(422, "invalid_value", f"`{field or 'body'}`: {problem}", field=field) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        names = ", ".join(f'"{name}": ...' for name in kind.__struct_fields__)  # type: ignore[attr-defined]
        raise RequestError(422, "invalid_json", f"send {{{names}}}") from None


def _complete(item: bytes, *, campaign: str, now: datetime, new_id: str | None = None) -> bytes:
    """Return an item with the fields that may be omitted: the campaign of the path, the current time, and a new id."""
    if not item.startswith(b"{"):
        return item
    try:
        given = _given.decode(item)
    except (msgspec.DecodeError, RecursionError):
        return item  # `decode` explains what is wrong
    missing = {} if given.campaign is not UNSET else {"campaign": campaign}
    if given.at is UNSET:
        missing["at"] = now.isoformat()
    if given.id is UNSET and new_id is not None:
        missing["id"] = new_id
    if not missing:
        return item
    rest = item[1:].lstrip()
    return encode(missing)[:-1] + (b"" if rest.startswith(b"}") else b",") + rest


def revocation(body: bytes, *, campaign: str, now: datetime) -> RevokeVerdicts:
    """Return the command that takes back the verdicts of a body."""
    given = read_body(body, RevokeBody)
    return RevokeVerdicts(
        id=given.id or uuid4().hex, campaign=campaign, at=now, judge=given.judge, judgments=tuple(given.judgments)
    )


def label_studio_revocation(body: bytes, *, campaign: str, now: datetime) -> RevokeVerdicts | None:
    """Return the command for a Label Studio webhook that takes back verdicts, or None if it does not.

    A webhook that is sent again has the same bytes, and so the command has the same id.
    """
    try:
        document = msgspec.json.decode(body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None  # `label_studio_judgments` explains what is wrong
    ids = find_revoked(document)
    if len(ids) > MOST_REVOKED:
        message = f"{len(ids):,} annotations; at most {MOST_REVOKED:,} can be taken back at once"
        raise RecordError("invalid_value", message, field="annotations")
    name = f"webhook-{blake2b(body, digest_size=10).hexdigest()}"
    return RevokeVerdicts(id=name, campaign=campaign, at=now, judgments=tuple(ids)) if ids else None


def label_studio_judgments(body: bytes, *, campaign: str, now: datetime) -> PostedJudgments:
    """Return the judgments of a Label Studio webhook. An event without a verdict has none."""
    try:
        entries = formats.read(BytesIO(body), format="label-studio", campaign=campaign)
        found = [judgment for batch in entries.batches() for judgment in batch.judgments]
    except RowError as error:
        raise RecordError(error.reason, str(error).removeprefix(f"{error.file}:"), field=error.field) from None
    except FormatError as error:
        raise RecordError("invalid_json", str(error)) from None
    for each in found:
        check_time(each, now.timestamp())
    return PostedJudgments([structs.replace(each, at=now) if each.at.year < FIRST_YEAR else each for each in found])
