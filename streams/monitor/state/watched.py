"""What the monitor remembers about one campaign between two reads of the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streams.monitor.state.snapshot import CampaignSnapshot, Overview, summarize
from streams.reports.rate import WindowedRate

if TYPE_CHECKING:
    from datetime import datetime

    from streams.monitor.ledger.base import Sample
    from streams.reports.views import CampaignView
    from streams.wire.events import Leaderboard

RATE_SECONDS = 60.0  # window of the displayed rate


@dataclass
class WatchedCampaign:
    """One campaign: the newest leaderboard, from the log or the store, and the last snapshot of the store."""

    name: str
    view: CampaignView
    board: Leaderboard
    snapshot: CampaignSnapshot | None = None
    read_at: float = 0.0  # when the snapshot was read, on the monitor's clock
    cost: float = 0.0  # seconds that the snapshot took
    rate: WindowedRate = field(default_factory=lambda: WindowedRate(RATE_SECONDS))
    unrecorded: datetime | None = None  # when the newest leaderboard arrived that is not in the history yet
    recorded_at: float = -1e9  # when a leaderboard was last added to the history, on the monitor's clock
    sample: Sample | None = None  # the last one that the history kept
    paired: int = -1  # sequence of the last pair counts that were added to the history

    @property
    def is_behind(self) -> bool:
        """Return whether the leaderboard is newer than the snapshot."""
        return self.snapshot is None or self.board.offset > self.snapshot.leaderboard.offset

    def overview(self, now: float) -> Overview:
        """Return the summary of the campaign with its current rate."""
        return summarize(self.view, self.board, rate=round(self.rate.at(now), 3))
