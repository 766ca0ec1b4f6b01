"""What arrived on the output topics for each campaign, whether its state was read or not."""

from __future__ import annotations

from collections import Counter, deque
from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from streams.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from streams.wire.events import Leaderboard, Rejection

MOST_REJECTIONS = 200  # kept with their messages


class RejectionView(Struct, frozen=True, kw_only=True):
    """A record that was not applied, by its place in the log. Its content stays in the log."""

    reason: str
    field: str | None
    message: str
    judgment: str | None  # the id of the judgment or command, if it can be read
    place: str
    at: datetime


class _RejectedEvent(Struct):
    id: str


def _find_id(original: bytes) -> str | None:
    """Return the id in a rejected record. Earlier versions did not write it beside the record."""
    try:
        found = msgspec.json.decode(original, type=_RejectedEvent).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if 1 <= len(found) <= MAX_NAME else None


class Rejections:
    """The rejected records of one campaign, as far as the monitor has read."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.latest: deque[RejectionView] = deque(maxlen=MOST_REJECTIONS)

    def add(self, rejection: Rejection, *, at: datetime) -> None:
        """Count a rejection. A worker may send the same one again after a restart; it counts once."""
        place = f"{rejection.topic}/{rejection.partition}/{rejection.offset}"
        if any(known.place == place for known in self.latest):
            return
        self.reasons[rejection.reason] += 1
        self.latest.appendleft(
            RejectionView(
                reason=rejection.reason,
                field=rejection.field,
                message=rejection.message,
                judgment=rejection.judgment or _find_id(rejection.original),
                place=place,
                at=at,
            )
        )

    def find(self, judgment: str) -> RejectionView | None:
        """Return the latest rejection of a judgment or command."""
        return next((view for view in self.latest if view.judgment == judgment), None)

    @property
    def total(self) -> int:
        """Return the number of rejections."""
        return self.reasons.total()


class CampaignOutputs:
    """The newest leaderboard and the rejections that arrived for one campaign."""

    def __init__(self) -> None:
        self.board: Leaderboard | None = None
        self.rejections = Rejections()
