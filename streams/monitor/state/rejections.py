"""The rejections of a campaign as the page shows them: counted, and the latest without the records themselves."""

from __future__ import annotations

from collections import Counter, deque
from datetime import datetime  # noqa: TC003 - msgspec reads the annotation

from msgspec import Struct

from streams.wire.events import Rejection  # noqa: TC001 - msgspec reads the annotation of the neighbours

MOST_KEPT = 200


class RejectionView(Struct, frozen=True, kw_only=True):
    """One record that was not applied, by its place in the log; its bytes stay there."""

    reason: str
    field: str | None
    message: str
    place: str
    at: datetime


class Rejections:
    """What was rejected of one campaign, as far as the monitor has read."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.latest: deque[RejectionView] = deque(maxlen=MOST_KEPT)

    def add(self, rejection: Rejection, *, at: datetime) -> None:
        """Count one, unless it came before: what a worker may not have sent is sent again after a restart."""
        place = f"{rejection.topic}/{rejection.partition}/{rejection.offset}"
        if any(known.place == place for known in self.latest):
            return
        self.reasons[rejection.reason] += 1
        self.latest.appendleft(
            RejectionView(reason=rejection.reason, field=rejection.field, message=rejection.message, place=place, at=at)
        )

    @property
    def total(self) -> int:
        """Count them all."""
        return self.reasons.total()
