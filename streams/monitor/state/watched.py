"""What the monitor remembers of one campaign between two looks at it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streams.monitor.state.rejections import Rejections
from streams.monitor.state.snapshot import CampaignSnapshot, Overview, overview

if TYPE_CHECKING:
    from datetime import datetime

    from streams.monitor.ledger.base import Sample
    from streams.reports.views import CampaignView
    from streams.wire.events import Leaderboard

WINDOW_SECONDS = 60.0


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
