"""What arrived on the output topics for each campaign, whether its state was read or not."""

from __future__ import annotations

from collections import Counter, deque
from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from streams.wire.events import Leaderboard, Rejection

MOST_REJECTIONS = 200  # kept with their messages


class RejectionView(Struct, frozen=True, kw_only=True):
    """A record that was not applied, by its place in the log. Its content stays in the log."""

    reason: str
    field: str | None
    message: str
    place: str
    at: datetime


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
            RejectionView(reason=rejection.reason, field=rejection.field, message=rejection.message, place=place, at=at)
        )

    @property
    def total(self) -> int:
        """Return the number of rejections."""
        return self.reasons.total()


class CampaignOutputs:
    """The newest leaderboard and the rejections that arrived for one campaign."""

    def __init__(self) -> None:
        self.board: Leaderboard | None = None
        self.rejections = Rejections()
