"""What the monitor remembers about one campaign between two reads of the store."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.errors import StoreCorrupt
from streams.monitor.state.snapshot import CampaignSnapshot, Overview, summarize
from streams.reports.rate import WindowedRate
from streams.reports.views import unread_view
from streams.wire.events import Leaderboard
from streams.wire.quarantine import describe_error

if TYPE_CHECKING:
    from datetime import datetime

    from streams.monitor.ledger.base import Sample
    from streams.reports.views import CampaignView
    from streams.stores import Store

log = logging.getLogger(__name__)

FRESH_SECONDS = 1.0  # a snapshot is not read again sooner, unless the campaign has open streams
TICK_SECONDS = 0.25
IDLE_SECONDS = 30.0  # how often a changing campaign without open streams is read
DISCOVERY_SECONDS = 5.0
LARGE_BOARD = 0.25  # seconds of work; a larger leaderboard is the workers', unless they have sent none for a while
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
    board_cost: float = 0.0  # seconds that the last leaderboard took which the monitor made
    published: Leaderboard | None = None  # the last one that a worker sent
    published_at: float = -1e9  # when it arrived, on the monitor's clock
    rate: WindowedRate = field(default_factory=lambda: WindowedRate(RATE_SECONDS))
    unrecorded: datetime | None = None  # when the newest leaderboard arrived that is not in the history yet
    recorded_at: float = -1e9  # when a leaderboard was last added to the history, on the monitor's clock
    sample: Sample | None = None  # the last one that the history kept
    paired: int = -1  # sequence of the last pair counts that were added to the history
    rerun_progress: float | None = None  # share of the log that is rated again, while that is done
    stale: bool = False  # whether the status has changed since the snapshot
    problem: str | None = None  # why the campaign could not be read the last time
    logged: set[str] = field(default_factory=set)  # the problems so far
    _overview: tuple[tuple[object, ...], Overview] | None = None  # the last one, after what it was made from

    @property
    def is_behind(self) -> bool:
        """Return whether the leaderboard or the status is newer than the snapshot."""
        return self.snapshot is None or self.stale or self.board.offset > self.snapshot.leaderboard.offset

    def keep(self, snapshot: CampaignSnapshot, *, now: float) -> None:
        """Keep a new snapshot, and what it took to read it."""
        self.snapshot, self.view, self.cost, self.read_at = snapshot, snapshot.view, snapshot.cost, now
        self.problem, self.stale = None, False
        if snapshot.board_cost is not None:
            self.board_cost = snapshot.board_cost

    def large_board(self, now: float) -> Leaderboard | None:
        """Return the leaderboard of a worker, if making one takes long. It may be older than the store."""
        is_recent = now - self.published_at < IDLE_SECONDS
        return self.published if is_recent and self.board_cost > LARGE_BOARD and not self.stale else None

    def wait(self, *, followed: bool, listed: bool) -> float | None:
        """Return after how many seconds to read the campaign again, or None if nothing has changed.

        It is `followed` by streams of its own, or `listed` by streams on all campaigns.
        """
        if self.problem is not None:
            return DISCOVERY_SECONDS
        if followed:
            return TICK_SECONDS
        if self.is_behind:
            return FRESH_SECONDS if listed else IDLE_SECONDS
        return None

    def overview(self, now: float) -> Overview:
        """Return the summary of the campaign with its current rate. It is made again only if something has changed."""
        made_from = (self.view, self.board, round(self.rate.at(now), 3), self.problem, self.rerun_progress)
        if self._overview is None or self._overview[0] != made_from:
            view, board, rate, problem, progress = made_from
            overview = summarize(view, board, rate=rate, problem=problem)
            self._overview = (made_from, overview if progress is None else replace(overview, rerun_progress=progress))
        return self._overview[1]

    def mark_failed(self, error: Exception) -> None:
        """Keep why the campaign could not be read. A new problem is logged."""
        stored = isinstance(error, StoreCorrupt)
        self.problem, self.read_at = str(error) if stored else describe_error(error), monotonic()
        if self.problem not in self.logged:
            self.logged.add(self.problem)
            trace = None if stored else error
            text = self.problem if stored else f"the campaign {self.name!r} can't be shown: {self.problem}"
            log.error("%s", text, exc_info=trace, extra={"campaign": self.name})

    @classmethod
    def unread(cls, store: Store, name: str) -> WatchedCampaign:
        """Return a campaign of which at most the meta can be read."""
        meta = None
        with suppress(StoreCorrupt):
            meta = store.read_meta(name)
        view = unread_view(ReadOnlyCampaign(name).meta if meta is None else meta)
        board = Leaderboard(campaign=name, model=view.model, sequence=0, offset=-1, judgments=view.judgments, rows=())
        return cls(name, view, board)
