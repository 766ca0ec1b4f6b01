"""The stored state of a campaign, and the change that one batch makes to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from streams.core.campaign.forgotten_verdicts import ForgottenVerdicts
from streams.core.campaign.request_rows import order_rows
from streams.core.campaign.retractions import Retractions  # noqa: TC001 - msgspec reads the annotation
from streams.core.campaign.stop_rule import StopCheck
from streams.errors import StoreCorrupt, StoreNewer
from streams.wire.events import CampaignStatus, MatchRequest, encode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from streams.wire.id_text import IdText
    from streams.wire.outputs import Output

# The version of all that is stored. docs/guarantees.md describes the present layout and the earlier ones.
LAYOUT = 7


class SystemRow(Struct, frozen=True, kw_only=True, array_like=True):
    """One system. `state` is the model's own, to the last bit."""

    index: int
    mean: float
    deviation: float
    wins: int
    ties: int
    losses: int
    judgments: int
    offset: int
    state: tuple[float, ...]


class JudgeRow(Struct, frozen=True, kw_only=True, array_like=True):
    """One judge, under a pseudonym. `duration_ms` is the sum over the `timed` judgments.

    `compared` counts the preferences that could be compared with the majority of earlier judgments, and `agreed` those
    that agreed with it. If the campaign limits judges, `minute` is the newest one, `in_minute` the judgments in it, and
    `flagged` the judgments that were too fast. The `gold_` fields count gold items.
    """

    index: int
    judgments: int
    timed: int
    duration_ms: int
    agreed: int
    compared: int
    minute: int = 0
    in_minute: int = 0
    flagged: int = 0
    gold_passed: int = 0
    gold_failed: int = 0
    state: tuple[float, ...] = ()


Row = TypeVar("Row", bound=Struct)
encode_row = msgspec.msgpack.Encoder().encode


def decode_row(stored: bytes, kind: type[Row]) -> Row:
    """Return a stored row. Before layout 5 it was a JSON object. Raise DecodeError if it can't be read.

    >>> row = SystemRow(index=3, mean=0.5, deviation=1.0, wins=1, ties=0, losses=0, judgments=1, offset=7, state=())
    >>> decode_row(encode_row(row), SystemRow) == row
    True
    """
    if not stored.startswith(b"{"):
        return msgspec.msgpack.decode(stored, type=kind)
    fields = {field.name: field.default for field in msgspec.structs.fields(kind)}
    fields |= msgspec.json.decode(stored, type=dict[str, Any])
    return msgspec.convert([fields[name] for name in kind.__struct_fields__], kind)


# Reasons for which a judgment is not rated.
LEFT_OUT = ("gold", "repeated", "over_share", "suspended", "retracted", "taken_back")


class Counts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a campaign's records. The sum is the number of records read."""

    judgments: int = 0
    commands: int = 0
    duplicates: int = 0
    rejected: int = 0
    retracted: int = 0
    held: int = 0  # records that wait in the log, because the campaign is quarantined
    gold: int = 0  # judgments of gold items, which check their judge
    repeated: int = 0  # judgments left out because their judge judged the same match before or later
    over_share: int = 0  # judgments left out because their judge has too large a share
    suspended: int = 0  # judgments left out because their judge is suspended
    taken_back: int = 0  # judgments left out because their judge changed or revoked them
    deleted: int = 0  # all records before the campaign was deleted, whatever had become of them

    @property
    def records(self) -> int:
        """The number of records."""
        return self.included + self.held

    @property
    def included(self) -> int:
        """The number of records that the state includes."""
        return self.applied + self.duplicates + self.rejected + self.deleted

    @property
    def applied(self) -> int:
        """The number of judgments that were rated or left out, and of commands."""
        # Written out, because it is asked of every campaign at every snapshot.
        defended = self.gold + self.repeated + self.over_share + self.suspended
        return self.judgments + self.commands + defended + self.retracted + self.taken_back

    @property
    def left_out(self) -> dict[str, int]:
        """The numbers of judgments that were not rated, by reason. Reasons that did not occur are omitted."""
        return {reason: number for reason in LEFT_OUT if (number := getattr(self, reason))}


class CampaignProgress(Struct, frozen=True, kw_only=True):
    """What every batch may change: the part of the meta that is small.

    The record at offset `opened` opened the campaign. `clock` is the latest time that the campaign's log names. The
    command at offset `deleted` deleted what the campaign was before (-1: none did). `model` is the state of the model
    that belongs to no row of a table. `stop` is the last check of the stop rule.
    """

    layout: int = LAYOUT
    offset: int
    clock: datetime
    counts: Counts
    opened: int = -1
    deleted: int = -1
    model: tuple[float, ...] = ()
    stop: StopCheck = StopCheck()


class CampaignMeta(CampaignProgress, frozen=True, kw_only=True):
    """Everything of a campaign that is not a row of a table.

    Only commands change `status` and `retractions`, and few judgments change `verdicts`. `outstanding` holds the match
    requests that were sent and are neither answered nor expired. Each is a row of its own in a store.
    """

    status: CampaignStatus = msgspec.field(name="standing")  # the stored name
    retractions: Retractions
    verdicts: ForgottenVerdicts = ForgottenVerdicts()
    outstanding: tuple[MatchRequest, ...] = ()


class _Commanded(Struct, frozen=True):
    status: CampaignStatus = msgspec.field(name="standing")
    retractions: Retractions
    verdicts: ForgottenVerdicts


class MetaEncoder:
    """Encodes a campaign's meta in two parts. The part that only commands change may be large."""

    def __init__(self) -> None:
        self._status: CampaignStatus | None = None  # as last encoded
        self._retractions: Retractions | None = None
        self._verdicts: ForgottenVerdicts | None = None

    def encode(self, meta: CampaignMeta) -> tuple[bytes, bytes | None]:
        """Return the progress, and the status with the retractions, or None if they are as in the last call."""
        progress = encode(CampaignProgress(**{name: getattr(meta, name) for name in _PROGRESS}))
        last = (self._status, self._retractions, self._verdicts)
        if all(one is other for one, other in zip(last, (meta.status, meta.retractions, meta.verdicts), strict=True)):
            return progress, None
        self._status, self._retractions, self._verdicts = meta.status, meta.retractions, meta.verdicts
        return progress, encode(_Commanded(meta.status, meta.retractions, meta.verdicts))


_PROGRESS = CampaignProgress.__struct_fields__


def join_meta(progress: bytes, status: bytes | None, requests: Iterable[bytes] = ()) -> bytes:
    """Return the two parts of an encoded meta and the rows of its match requests as one.

    Before layout 3 there was only the first part. Before layout 5 it had the requests, and there were no rows of them.

    >>> join_meta(b'{"layout":5}', b'{"standing":{}}', [b'0 {"id":"a"}'])
    b'{"layout":5,"standing":{},"outstanding":[{"id":"a"}]}'
    """
    if status is not None:
        progress = progress[:-1] + b"," + status[1:]
    outstanding = order_rows(requests)
    return progress[:-1] + b',"outstanding":[' + b",".join(outstanding) + b"]}" if outstanding else progress


class _Layout(Struct):
    layout: int


def decode_meta(campaign: str, stored: bytes) -> CampaignMeta:
    """Return a campaign's stored meta in the present layout.

    Raise StoreCorrupt if it cannot be read, and StoreNewer if a newer version of Judgestream wrote it.
    """
    try:
        layout = msgspec.json.decode(stored, type=_Layout).layout
        if layout == 1:
            return msgspec.convert(_from_layout_1(msgspec.json.decode(stored, type=dict[str, Any])), CampaignMeta)
        if layout <= LAYOUT:
            return msgspec.structs.replace(msgspec.json.decode(stored, type=CampaignMeta), layout=LAYOUT)
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise StoreCorrupt(f"campaign {campaign!r}: its stored state can't be read: {error}") from None
    raise newer_layout_error(f"campaign {campaign!r}", layout)


def decode_judge(campaign: str, stored: bytes) -> JudgeRow:
    """Return a stored row of a judge. Raise StoreCorrupt if it cannot be read."""
    try:
        return decode_row(stored, JudgeRow)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"campaign {campaign!r}: the row of a judge can't be read: {error}") from None


def newer_layout_error(what: str, layout: int | str) -> StoreNewer:
    """Return the error of a state that only a newer version can read."""
    return StoreNewer(
        f"{what}: stored in layout {layout}, and this version reads layouts 1 to {LAYOUT}; update Judgestream here. "
        "Nothing was changed"
    )


def _from_layout_1(fields: dict[str, Any]) -> dict[str, Any]:
    """Complete the outstanding requests, of which layout 1 kept only id, systems, segment and expiry."""
    unknown = {"campaign": fields["standing"]["campaign"], "why": "unknown", "information": 0.0}
    outstanding = [unknown | request for request in fields["outstanding"]]
    return fields | {"layout": LAYOUT, "outstanding": outstanding}


TABLES = (
    "systems",
    "judges",
    "segments",
    "segment_pages",
    "pairs",
    "cells",
    "replicas",
    "votes",
    "residuals",
    "categories",
)
Tables = dict[str, dict[str, bytes]]


@dataclass(frozen=True, kw_only=True)
class StoredCampaign:
    """A campaign's state as a store returns it.

    `scores` are the means of the systems that have not been withdrawn. `seen` are the ids that detect duplicates.
    """

    meta: bytes
    tables: Tables
    scores: dict[str, float]
    seen: tuple[str, ...]
    outbox: tuple[Output, ...] = ()
    offset: int = -1  # as the store's own check of the next write compares it
    problem: str | None = None  # why this state can't be used: keys are lost, or it is older than it should be


@dataclass(frozen=True, kw_only=True)
class CampaignChange:
    """What a batch changed in one campaign, which was at offset `before` and is at `after` now.

    If it is `whole`, the campaign is new, was deleted or was rated again: rows that its tables do not hold are removed.
    If it has no tables at all, the campaign is quarantined, and its rows stay as they are.
    """

    campaign: str
    before: int
    after: int
    whole: bool
    meta: bytes  # the progress
    status: bytes | None = None  # the status and the retractions, if they changed; see MetaEncoder
    tables: Tables
    scores: dict[str, float]
    withdrawn: tuple[str, ...]  # systems to remove from the scores
    seen: IdText  # new ids, of which the last `seen_ids` are kept
    seen_ids: int
    outbox: tuple[Output, ...]
    removed: Mapping[str, Collection[str]] = field(default_factory=dict)  # rows that are no more, by table
    requests: Mapping[str, bytes] = field(default_factory=dict)  # new rows of outstanding match requests, by id
    ended: tuple[str, ...] = ()  # ids of those that are outstanding no more

    @property
    def rows(self) -> int:
        """Return how many rows of the tables are written."""
        return sum(map(len, self.tables.values()))
