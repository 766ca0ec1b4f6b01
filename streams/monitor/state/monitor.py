"""The monitor's state: the known campaigns, the last snapshot of each, and who is notified of changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from streams.errors import StoreUnavailable
from streams.monitor.state import history
from streams.monitor.state.deleted import DeletedCampaigns
from streams.monitor.state.findings import own_problems
from streams.monitor.state.lookup import UnknownCampaign, check_name
from streams.monitor.state.outputs import CampaignOutputs
from streams.monitor.state.snapshot import CampaignSnapshot
from streams.monitor.state.supervision import Supervision
from streams.monitor.state.tasks import Tasks
from streams.monitor.state.watched import DISCOVERY_SECONDS, FRESH_SECONDS, TICK_SECONDS, WatchedCampaign

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.monitor.backends.base import Backend
    from streams.monitor.state.findings import Finding
    from streams.monitor.state.snapshot import Overview
    from streams.wire.events import CampaignStatus, Leaderboard, Rejection

DUTY = 4.0  # a snapshot that took one second is not read again within this many
MOST_OUTPUTS = 10_000  # campaigns whose outputs are kept, whether they exist or not
MOST_SNAPSHOTS = 32  # kept; for other campaigns only the leaderboard and the overview
PATIENCE_SECONDS = 0.8  # longest wait for unread campaigns in a list of all campaigns


class Monitor:
    """Reads campaigns as often as somebody follows them, and no more often than they change."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.campaign_streams: Counter[str] = Counter()  # open event streams per campaign
        self.overview_streams = 0  # open event streams on all campaigns
        self.on_change: list[Callable[[str], None]] = []  # called with the name of a campaign that changed
        self._watched: dict[str, WatchedCampaign] = {}
        self._outputs: dict[str, CampaignOutputs] = {}
        self._reading: dict[str, asyncio.Task[CampaignSnapshot]] = {}
        self.deleted = DeletedCampaigns()
        self._unread: set[str] = set()  # campaigns that exist and have not been read yet
        self.supervision = Supervision(backend)
        self._tasks = Tasks()

    async def start(self) -> None:
        """Start to follow the campaigns."""
        await self.backend.start(self)
        self._tasks.start(self.backend.tasks(), following=self._follow(), supervision=self.supervision.run())

    async def stop(self) -> None:
        """Stop all tasks, and the backend."""
        await self._tasks.stop()
        await self.backend.stop()

    def failure(self) -> str | None:
        """Return which task has ended and needs a restart. Return None if all are running."""
        return self._tasks.failure(self.backend.tasks())

    def problems(self) -> list[Finding]:
        """Return what an operator has to repair: a task that has ended, a server that is away, or the workers."""
        return [*own_problems(self.failure(), self.backend.waiting()), *self.supervision.findings.problems]

    # -- queries ---------------------------------------------------------------------------------------

    async def overviews(self) -> list[Overview]:
        """Return the summaries of all campaigns, the one with the newest judgment first."""
        with suppress(StoreUnavailable):
            await self._discover()
        waiting = [asyncio.ensure_future(self._try_read(name)) for name in sorted(self._unread)]
        if waiting:
            await asyncio.wait(waiting, timeout=PATIENCE_SECONDS)
        now = monotonic()
        views = [watched.overview(now) for watched in self._watched.values()]
        return sorted(views, key=lambda view: (view.newest, view.campaign), reverse=True)

    async def watched(self, name: str) -> WatchedCampaign:
        """Return what is known about a campaign. Read it first if it has never been read."""
        if name not in self._watched:
            await self.snapshot(name)
        return self._watched[name]

    def known(self, name: str) -> WatchedCampaign | None:
        """Return what is known about a campaign, without reading it."""
        return self._watched.get(name)

    async def snapshot(self, name: str, *, within: float = FRESH_SECONDS) -> CampaignSnapshot:
        """Return a snapshot at most about `within` seconds old. If the store is away, return the last one."""
        check_name(name)
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

    @property
    def campaigns(self) -> int:
        """Return the number of known campaigns."""
        return len(self._watched) + len(self._unread)

    def outputs(self, name: str) -> CampaignOutputs:
        """Return what arrived on the output topics for a campaign."""
        return self._outputs.get(name) or CampaignOutputs()

    def now(self) -> float:
        """Return the time on the monitor's clock."""
        return monotonic()

    @property
    def rate(self) -> float:
        """Return the judgments per second of all campaigns."""
        now = monotonic()
        return sum(watched.rate.at(now) for watched in self._watched.values())

    # -- records of the output topics ------------------------------------------------------------------

    def on_leaderboard(self, leaderboard: Leaderboard, *, at: datetime) -> None:
        """Keep a leaderboard from the log, if it is newer than the known one."""
        name = leaderboard.campaign
        self._outputs_of(name).board = leaderboard
        watched = self._watched.get(name)
        if watched is None:
            self._unread.add(name)
        elif leaderboard.offset > watched.board.offset:
            watched.published, watched.published_at = leaderboard, monotonic()
            self._advance(watched, leaderboard, at=at)

    def on_status(self, status: CampaignStatus) -> None:
        """Read a campaign again if its state has changed. No leaderboard comes after a quarantine."""
        watched = self._watched.get(status.campaign)
        if status.state == "deleted":
            self._remove(status.campaign)
        elif watched is None:
            self._unread.add(status.campaign)
        elif (status.state, status.quarantine) != (watched.view.state, watched.view.quarantine):
            watched.stale = True

    def _remove(self, name: str) -> None:
        """Remove a campaign that was deleted."""
        self._watched.pop(name, None)
        self._outputs.pop(name, None)
        self._unread.discard(name)
        self.deleted.add(name, now=monotonic())
        self._notify(name)

    def on_rejection(self, campaign: str, rejection: Rejection, *, at: datetime) -> None:
        """Count a rejection."""
        self._outputs_of(campaign).rejections.add(rejection, at=at)
        self._notify(campaign)

    def _outputs_of(self, name: str) -> CampaignOutputs:
        outputs = self._outputs.setdefault(name, CampaignOutputs())
        if len(self._outputs) > MOST_OUTPUTS:  # a publisher can invent any number of names
            del self._outputs[next(each for each in self._outputs if each not in self._watched and each != name)]
        return outputs

    def _advance(self, watched: WatchedCampaign, board: Leaderboard, *, at: datetime) -> None:
        if board.sequence != watched.board.sequence:
            watched.unrecorded = at
        watched.board = board
        watched.rate.add(monotonic(), board.judgments)
        self._notify(watched.name)

    def _notify(self, name: str) -> None:
        for callback in self.on_change:
            callback(name)

    # -- reading the store -----------------------------------------------------------------------------

    async def _read_snapshot(self, name: str) -> CampaignSnapshot:
        store, watched, now = self.backend.store, self._watched.get(name), monotonic()
        known = watched.snapshot if watched and not watched.stale else None  # one rated again has the same head
        if watched and known and await self.backend.run(store.read_head, name) == known.head:
            watched.read_at = now
            return known
        try:
            board = watched.large_board(now) if watched else None
            snapshot = await self.backend.run(CampaignSnapshot.read, store, name, board)
            if snapshot is not None:
                self._keep(name, snapshot)
                return snapshot
        except UnknownCampaign:
            self._remove(name)
            raise
        except Exception as error:
            await self._mark_failed(name, error)
            raise
        raise UnknownCampaign(f"there is no campaign {name!r}")

    async def _mark_failed(self, name: str, error: Exception) -> None:
        """Show a campaign with an unexpected error, or with stored data that can't be read. The others go on."""
        if isinstance(error, StoreUnavailable):
            raise error
        if name not in self._watched:
            self._watched[name] = await self.backend.run(WatchedCampaign.unread, self.backend.store, name)
            self._unread.discard(name)
        self._watched[name].mark_failed(error)
        self._notify(name)

    def _finish_reading(self, name: str, task: asyncio.Task[CampaignSnapshot]) -> None:
        del self._reading[name]
        if not task.cancelled():
            task.exception()  # the waiting requests got the error; without this asyncio would log it again

    def _keep(self, name: str, snapshot: CampaignSnapshot) -> None:
        board, now = snapshot.leaderboard, datetime.now(UTC)
        watched = self._watched.get(name) or self._watch(name, snapshot)
        before = watched.snapshot
        watched.keep(snapshot, now=monotonic())
        started_again = before is not None and board.offset < before.leaderboard.offset
        if board.offset >= watched.board.offset or started_again:
            self._advance(watched, board, at=now)
        with_snapshot = [each for each in self._watched.values() if each.snapshot]
        for oldest in sorted(with_snapshot, key=lambda each: each.read_at)[:-MOST_SNAPSHOTS]:
            oldest.snapshot = None

    def _watch(self, name: str, snapshot: CampaignSnapshot) -> WatchedCampaign:
        """Add a campaign that was read for the first time."""
        watched = self._watched[name] = WatchedCampaign(name, snapshot.view, snapshot.leaderboard)
        watched.rate.add(monotonic(), snapshot.leaderboard.judgments)
        watched.unrecorded = min(snapshot.view.newest, datetime.now(UTC))
        self._unread.discard(name)
        self.deleted.discard(name)
        board = self.outputs(name).board
        if board is not None and board.offset > snapshot.leaderboard.offset:
            self._advance(watched, board, at=datetime.now(UTC))
        return watched

    async def _discover(self) -> None:
        names = await self.backend.run(self.backend.store.list_campaigns, self.backend.partitions())
        self._unread |= self.deleted.without(names, now=monotonic()) - self._watched.keys()

    async def _try_read(self, name: str) -> None:
        try:
            await self.snapshot(name, within=TICK_SECONDS)
        except UnknownCampaign:
            self._unread.discard(name)
        except StoreUnavailable:
            return
        except Exception:
            if (watched := self._watched.get(name)) is None or watched.problem is None:
                raise  # otherwise it is logged, and shown with the campaign

    # -- following -------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        discovered = cost = 0.0
        while True:
            try:
                if monotonic() - discovered > DISCOVERY_SECONDS:
                    discovered = monotonic()
                    await self._discover()
                for name in sorted(self._unread):
                    await self._try_read(name)
                await self.deleted.remove_ledgers(self.backend)
                cost = 0.0
                for watched in self._due(monotonic()):
                    await self._try_read(watched.name)
                    cost += watched.cost
                for watched in list(self._watched.values()):
                    watched.rerun_progress = self.supervision.rerun_progress.get(watched.name)
                    await self._try_record(watched)
            except StoreUnavailable:
                await asyncio.sleep(1.0)
            # Snapshots must leave most of the time to requests.
            await asyncio.sleep(max(TICK_SECONDS, DUTY * cost))

    async def _try_record(self, watched: WatchedCampaign) -> None:
        try:
            if await history.record(self.backend, watched):
                self._notify(watched.name)
        except Exception as error:  # noqa: BLE001 - it is logged, and shown with the campaign
            await self._mark_failed(watched.name, error)

    def _due(self, now: float) -> list[WatchedCampaign]:
        """Return the campaigns to read: those with open streams often, others that changed now and then."""
        due = []
        for watched in self._watched.values():
            wait = watched.wait(followed=self.campaign_streams[watched.name] > 0, listed=self.overview_streams > 0)
            if wait is not None and now - watched.read_at >= max(wait, DUTY * watched.cost):
                due.append(watched)
        return due
