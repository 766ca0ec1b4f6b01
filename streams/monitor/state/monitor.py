"""The monitor's own state: which campaigns there are, the last snapshot at each, and who wants to know of changes."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from streams.errors import JudgestreamError, StoreCorrupt, StoreUnavailable
from streams.monitor.state.snapshot import CampaignSnapshot, sample_of
from streams.monitor.state.watched import CampaignOutputs, WatchedCampaign
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.monitor.backends.base import Backend
    from streams.monitor.ledger.base import Sample
    from streams.monitor.state.snapshot import Overview
    from streams.wire.events import Leaderboard, MatchRequest, Rejection

FRESH_SECONDS = 1.0  # a snapshot is not repeated within these, unless the campaign is being followed
TICK_SECONDS = 0.25
IDLE_SECONDS = 30.0  # how often a campaign that nobody follows is looked at while it changes
DISCOVERY_SECONDS = 5.0
DUTY = 4.0  # a snapshot that took a second is not repeated within so many
MOST_OUTPUTS = 10_000  # campaigns of which records came, whether they exist or not
MOST_SNAPSHOTS = 32  # kept whole; of other campaigns only the leaderboard and the overview
NOTE_SECONDS = 1.0  # between two samples of one campaign's history
PAIRS_GROWTH = 1.05  # the pairs are counted for the history whenever the log has grown so much
PATIENCE_SECONDS = 0.8  # for campaigns that were never looked at, when all are asked for


log = logging.getLogger(__name__)


class UnknownCampaign(JudgestreamError):  # noqa: N818
    """There is no such campaign."""


class Monitor:
    """Looks at campaigns as often as somebody wants to know, and no more often than they change."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.campaign_streams: Counter[str] = Counter()  # event streams, by campaign
        self.overview_streams = 0  # event streams on all campaigns
        self.listeners: list[Callable[[str], None]] = []  # are told the name of a campaign that changed
        self._watched: dict[str, WatchedCampaign] = {}
        self._outputs: dict[str, CampaignOutputs] = {}
        self._reading: dict[str, asyncio.Task[CampaignSnapshot]] = {}
        self._unseen: set[str] = set()  # campaigns that exist and were not looked at yet
        self._unreadable: set[str] = set()  # campaigns of which the log says that they can't be read
        self._following: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to follow."""
        await self.backend.start(self)
        self._following = asyncio.create_task(self._follow(), name="following")
        for task in (*self.backend.tasks(), self._following):
            task.add_done_callback(_report_end)

    async def stop(self) -> None:
        """End it."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        await self.backend.stop()

    def failure(self) -> str | None:
        """Say which task has ended that should not have, so that only a restart helps; None if none has."""
        tasks = [*self.backend.tasks(), *([self._following] if self._following else [])]
        ended = [task for task in tasks if task.done() and not task.cancelled()]
        return f"{ended[0].get_name()} has ended: {ended[0].exception()!r}" if ended else None

    # -- what is asked ---------------------------------------------------------------------------------

    async def overviews(self) -> list[Overview]:
        """Sum up all campaigns, the one with the newest judgment first."""
        with suppress(StoreUnavailable):
            await self._discover()
        waiting = [asyncio.ensure_future(self._try_read(name)) for name in sorted(self._unseen)]
        if waiting:
            await asyncio.wait(waiting, timeout=PATIENCE_SECONDS)
        now = monotonic()
        views = [watched.overview(now) for watched in self._watched.values()]
        return sorted(views, key=lambda view: (view.newest, view.campaign), reverse=True)

    async def watched(self, name: str) -> WatchedCampaign:
        """Give what is known of a campaign, which is looked at if it never was."""
        if name not in self._watched:
            await self.snapshot(name)
        return self._watched[name]

    def known(self, name: str) -> WatchedCampaign | None:
        """Give what is known of a campaign already."""
        return self._watched.get(name)

    async def snapshot(self, name: str, *, within: float = FRESH_SECONDS) -> CampaignSnapshot:
        """Return a snapshot at most about `within` seconds old. If the store is away, return the last one."""
        _check_name(name)
        watched = self._watched.get(name)
        if watched and watched.snapshot:
            wait = TICK_SECONDS if watched.is_behind else within
            if monotonic() - watched.read_at < max(wait, DUTY * watched.cost):
                return watched.snapshot
        if name not in self._reading:
            self._reading[name] = asyncio.create_task(self._read_snapshot(name))
            self._reading[name].add_done_callback(lambda task: self._finish_reading(name, task))
        try:
            return await asyncio.shield(self._reading[name])
        except StoreUnavailable:
            watched = self._watched.get(name)
            if watched and watched.snapshot:
                return watched.snapshot
            raise

    async def match_requests(self, name: str) -> tuple[MatchRequest, ...]:
        """Return the outstanding match requests of a campaign as the store has them now."""
        _check_name(name)
        meta = await self.backend.run(self.backend.store.read_meta, name)
        if meta is None:
            raise UnknownCampaign(f"there is no campaign {name!r}")
        return meta.outstanding

    @property
    def campaigns(self) -> int:
        """Count the campaigns that are known."""
        return len(self._watched) + len(self._unseen)

    def outputs(self, name: str) -> CampaignOutputs:
        """Give what came of a campaign on the output topics."""
        return self._outputs.get(name) or CampaignOutputs()

    def now(self) -> float:
        """Give the time on the monitor's clock."""
        return monotonic()

    def sample_now(self, watched: WatchedCampaign) -> Sample:
        """Take down a campaign as it stands."""
        return sample_of(watched.board, at=datetime.now(UTC))

    @property
    def rate(self) -> float:
        """Give the judgments a second of all campaigns."""
        now = monotonic()
        return sum(watched.rate.at(now) for watched in self._watched.values())

    # -- what is told ----------------------------------------------------------------------------------

    def on_leaderboard(self, leaderboard: Leaderboard, *, at: datetime) -> None:
        """Take a leaderboard from the log, if it is newer than what the store has shown."""
        name = leaderboard.campaign
        self._outputs_of(name).board = leaderboard
        watched = self._watched.get(name)
        if watched is None:
            self._unseen.add(name)
        elif leaderboard.offset > watched.board.offset:
            self._advance(watched, leaderboard, at=at)

    def on_rejection(self, campaign: str, rejection: Rejection, *, at: datetime) -> None:
        """Count a rejection."""
        self._outputs_of(campaign).rejections.add(rejection, at=at)
        self._tell(campaign)

    def _outputs_of(self, name: str) -> CampaignOutputs:
        found = self._outputs.setdefault(name, CampaignOutputs())
        if len(self._outputs) > MOST_OUTPUTS:  # anybody who publishes may make up names
            del self._outputs[next(each for each in self._outputs if each not in self._watched and each != name)]
        return found

    def _tell(self, name: str) -> None:
        for listener in self.listeners:
            listener(name)

    # -- looking ---------------------------------------------------------------------------------------

    async def _read_snapshot(self, name: str) -> CampaignSnapshot:
        store, watched = self.backend.store, self._watched.get(name)
        now = monotonic()
        if watched and watched.snapshot and await self.backend.run(store.head, name) == watched.snapshot.head:
            watched.read_at = now
            return watched.snapshot
        snapshot = await self.backend.run(CampaignSnapshot.read, store, name)
        if snapshot is None:
            raise UnknownCampaign(f"there is no campaign {name!r}")
        self._keep(name, snapshot)
        return snapshot

    def _finish_reading(self, name: str, task: asyncio.Task[CampaignSnapshot]) -> None:
        del self._reading[name]
        if not task.cancelled():
            task.exception()  # whoever waited for it was told, if anybody still did

    def _keep(self, name: str, snapshot: CampaignSnapshot) -> None:
        watched = self._watched.get(name)
        if watched is None:
            watched = self._watched[name] = WatchedCampaign(name, snapshot.view, snapshot.leaderboard)
            watched.rate.note(monotonic(), snapshot.leaderboard.judgments)
            watched.unnoted = min(snapshot.view.newest, datetime.now(UTC))
            self._unseen.discard(name)
            board = self.outputs(name).board
            if board is not None and board.offset > snapshot.leaderboard.offset:
                self._advance(watched, board, at=datetime.now(UTC))
        before, offset = watched.snapshot, snapshot.leaderboard.offset
        watched.snapshot, watched.view, watched.cost, watched.read_at = (
            snapshot,
            snapshot.view,
            snapshot.cost,
            monotonic(),
        )
        begun_anew = before is not None and offset < before.leaderboard.offset
        if offset >= watched.board.offset or begun_anew:
            self._advance(watched, snapshot.leaderboard, at=datetime.now(UTC))
        for stale in sorted(self._looked(), key=lambda each: each.read_at)[:-MOST_SNAPSHOTS]:
            stale.snapshot = None

    def _looked(self) -> list[WatchedCampaign]:
        return [watched for watched in self._watched.values() if watched.snapshot]

    def _advance(self, watched: WatchedCampaign, board: Leaderboard, *, at: datetime) -> None:
        if board.sequence != watched.board.sequence:
            watched.unnoted = at
        watched.board = board
        watched.rate.note(monotonic(), board.judgments)
        self._tell(watched.name)

    async def _discover(self) -> None:
        names = await self.backend.run(self.backend.store.campaigns, self.backend.partitions())
        self._unseen |= set(names) - self._watched.keys() - self._unreadable

    async def _try_read(self, name: str) -> None:
        try:
            await self.snapshot(name, within=TICK_SECONDS)
        except UnknownCampaign:
            self._unseen.discard(name)
        except StoreCorrupt as error:
            self._unseen.discard(name)
            if name not in self._unreadable:
                self._unreadable.add(name)
                log.error("%s", error)
        except StoreUnavailable:
            return

    # -- following -------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        discovered = cost = 0.0
        while True:
            try:
                if monotonic() - discovered > DISCOVERY_SECONDS:
                    discovered = monotonic()
                    await self._discover()
                for name in sorted(self._unseen):
                    await self._try_read(name)
                cost = 0.0
                for watched in self._due(monotonic()):
                    await self._try_read(watched.name)
                    cost += watched.cost
                for watched in list(self._watched.values()):
                    await self._note(watched)
            except StoreUnavailable:
                await asyncio.sleep(1.0)
            # All looks together leave most of the time to those who ask.
            await asyncio.sleep(max(TICK_SECONDS, DUTY * cost))

    def _due(self, now: float) -> list[WatchedCampaign]:
        """Return the campaigns to read: those with open streams often, others that changed now and then."""
        due = []
        for watched in self._watched.values():
            if self.campaign_streams[watched.name]:
                wait = TICK_SECONDS
            elif watched.is_behind:
                wait = FRESH_SECONDS if self.overview_streams else IDLE_SECONDS
            else:
                continue
            if now - watched.read_at >= max(wait, DUTY * watched.cost):
                due.append(watched)
        return due

    async def _note(self, watched: WatchedCampaign) -> None:
        """Tell the history of a new leaderboard, and of the pairs as they were last seen."""
        if watched.unnoted is None or monotonic() - watched.noted < NOTE_SECONDS:
            return
        watched.noted = monotonic()
        sample, watched.unnoted = sample_of(watched.board, at=watched.unnoted), None
        ledger = self.backend.ledger
        if await self.backend.run(ledger.note, watched.name, sample):
            watched.sample = sample
            self._tell(watched.name)
        snapshot = watched.snapshot
        if (
            snapshot is not None
            and not 0 <= watched.paired <= snapshot.leaderboard.sequence < PAIRS_GROWTH * watched.paired
        ):
            watched.paired = snapshot.leaderboard.sequence
            await self.backend.run(lambda: ledger.note_pairs(watched.name, snapshot.pair_sample()))


def _report_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        log.critical("%s has ended; only a restart helps", task.get_name(), exc_info=task.exception())


def _check_name(name: str) -> None:
    if not is_campaign_name(name):
        raise UnknownCampaign(f"no campaign is called {quote(name)}; {CAMPAIGN_RULE}")
