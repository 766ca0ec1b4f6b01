"""What the monitor remembers of one campaign between two looks at it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streams.monitor.state.rejections import Rejections
from streams.monitor.state.snapshot import CampaignSnapshot, Overview, overview
from streams.wire.events import MatchRequest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from streams.monitor.ledger.base import Sample
    from streams.reports.views import CampaignView
    from streams.wire.events import Leaderboard

WINDOW_SECONDS = 60.0
MOST_REQUESTS = 10_000  # as many as a campaign may have out
UNTOLD = "asked for before this monitor began to listen"


class Rate:
    """Judgments a second over the last minute.

    >>> rate = Rate()
    >>> for second, judgments in ((0.0, 100), (10.0, 150)):
    ...     rate.note(second, judgments)
    >>> rate.at(10.0), rate.at(25.0), rate.at(100.0)
    (5.0, 2.0, 0.0)
    """

    def __init__(self) -> None:
        self._noted: deque[tuple[float, int]] = deque()

    def note(self, now: float, judgments: int) -> None:
        """Note a count; what is older than the window goes, but for the last one before it."""
        if self._noted and judgments < self._noted[-1][1]:
            self._noted.clear()  # some were retracted
        self._noted.append((now, judgments))
        while len(self._noted) > 2 and self._noted[1][0] <= now - WINDOW_SECONDS:
            self._noted.popleft()

    def at(self, now: float) -> float:
        """Give the rate as of a moment."""
        if not self._noted:
            return 0.0
        since = now - WINDOW_SECONDS
        before = self._noted[0]
        for noted in self._noted:
            if noted[0] > since:
                break
            before = noted
        elapsed = min(now - before[0], WINDOW_SECONDS)
        return (self._noted[-1][1] - before[1]) / elapsed if elapsed > 0 else 0.0


@dataclass
class WatchedCampaign:
    """One campaign: the newest leaderboard from the log or the store, and the last snapshot at the rest."""

    name: str
    view: CampaignView
    board: Leaderboard
    snapshot: CampaignSnapshot | None = None
    read_at: float = 0.0  # when, on the monitor's clock
    cost: float = 0.0  # of a snapshot, in seconds
    rate: Rate = field(default_factory=Rate)
    unnoted: datetime | None = None  # when the leaderboard came that the history has not been told of
    noted: float = -1e9  # when the history was last told of one
    sample: Sample | None = None  # the last one that the history took
    paired: int = -1  # the sequence of the last counts of pairs that the history was told

    @property
    def is_behind(self) -> bool:
        """Say whether the leaderboard is newer than the last snapshot at the rest."""
        return self.snapshot is None or self.board.offset > self.snapshot.leaderboard.offset

    def overview(self, now: float) -> Overview:
        """Sum it up."""
        return overview(self.view, self.board, rate=round(self.rate.at(now), 3))


class CampaignOutputs:
    """What came of a campaign on the output topics, whether it was looked at or not."""

    def __init__(self) -> None:
        self.board: Leaderboard | None = None
        self.rejections = Rejections()
        self._requests: dict[str, MatchRequest] = {}

    def add_request(self, request: MatchRequest) -> None:
        """Remember a request."""
        self._requests[request.id] = request
        if len(self._requests) > MOST_REQUESTS:
            del self._requests[next(iter(self._requests))]

    def requests(self, snapshot: CampaignSnapshot) -> Sequence[MatchRequest]:
        """Give the requests that are out, as they were sent where that was heard."""
        return [
            self._requests.get(out.id)
            or MatchRequest(
                id=out.id,
                campaign=snapshot.view.campaign,
                systems=out.systems,
                segment=out.segment,
                why=UNTOLD,
                information=0.0,
                expires_at=out.expires_at,
            )
            for out in snapshot.requests
        ]

    def offers(self, snapshot: CampaignSnapshot) -> Sequence[MatchRequest]:
        """Give what a judge may be asked for: what is out, and what was sent since the snapshot."""
        since = snapshot.leaderboard.offset
        return [
            *self.requests(snapshot),
            *(request for request in self._requests.values() if _asked_at(request.id) > since),
        ]


def _asked_at(request: str) -> int:
    """Read the offset after which a request was sent out of its id.

    >>> _asked_at("judgments.v1/3/1042/0")
    1042
    """
    parts = request.rsplit("/", 2)
    return int(parts[1]) if len(parts) == 3 and parts[1].isdecimal() else -1
