"""The monitor's own state: which campaigns there are, the last look at each, and who wants to know of changes."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from streams.errors import JudgestreamError, StoreCorrupt, StoreUnavailable
from streams.monitor.live.feed import is_campaign
from streams.monitor.state.snapshot import Look, sample_of
from streams.monitor.state.watched import Outputs, Watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.monitor.backends.base import Backend
    from streams.monitor.ledger.base import Sample
    from streams.monitor.state.snapshot import Overview
    from streams.wire.events import Leaderboard, MatchRequest, Rejection

FRESH_SECONDS = 1.0  # a look is not repeated within these, unless the campaign is being followed
TICK_SECONDS = 0.25
IDLE_SECONDS = 30.0  # how often a campaign that nobody follows is looked at while it changes
DISCOVERY_SECONDS = 5.0
DUTY = 4.0  # a look that took a second is not repeated within so many
MOST_OUTPUTS = 10_000  # campaigns of which records came, whether they exist or not
MOST_LOOKS = 32  # kept whole; of other campaigns only the leaderboard and the overview
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
        self.followers: Counter[str] = Counter()  # event streams, by campaign
        self.onlookers = 0  # event streams on all campaigns
        self.listeners: list[Callable[[str], None]] = []  # are told the name of a campaign that changed
        self._watched: dict[str, Watched] = {}
        self._outputs: dict[str, Outputs] = {}
        self._flights: dict[str, asyncio.Task[Look]] = {}
        self._unseen: set[str] = set()  # campaigns that exist and were not looked at yet
        self._unreadable: set[str] = set()  # campaigns of which the log says that they can't be read
        self._following: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to follow."""
        await self.backend.start(self)
        self._following = asyncio.create_task(self._follow(), name="following")
        for task in (*self.backend.tasks(), self._following):
            task.add_done_callback(_tell_of_the_end)

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
        waiting = [asyncio.ensure_future(self._try_look(name)) for name in sorted(self._unseen)]
        if waiting:
            await asyncio.wait(waiting, timeout=PATIENCE_SECONDS)
        now = monotonic()
        views = [watched.overview(now) for watched in self._watched.values()]
        return sorted(views, key=lambda view: (view.newest, view.campaign), reverse=True)

    async def watched(self, name: str) -> Watched:
        """Give what is known of a campaign, which is looked at if it never was."""
        if name not in self._watched:
            await self.look(name)
        return self._watched[name]

    def known(self, name: str) -> Watched | None:
        """Give what is known of a campaign already."""
        return self._watched.get(name)

    async def look(self, name: str, *, within: float = FRESH_SECONDS) -> Look:
        """Give a look at a campaign that is about so many seconds old at most, or if the store is away the last one."""
        if not is_campaign(name):
            raise UnknownCampaign(
                f"no campaign is called {name[:200]!r}: letters, digits, '.', '_' and '-' make a name"
            )
        watched = self._watched.get(name)
        if watched and watched.look:
            wait = TICK_SECONDS if watched.is_behind else within
            if monotonic() - watched.looked < max(wait, DUTY * watched.cost):
                return watched.look
        if name not in self._flights:
            self._flights[name] = asyncio.create_task(self._look(name))
            self._flights[name].add_done_callback(lambda task: self._landed(name, task))
        try:
            return await asyncio.shield(self._flights[name])
        except StoreUnavailable:
            watched = self._watched.get(name)
            if watched and watched.look:
                return watched.look
            raise

    @property
    def campaigns(self) -> int:
        """Count the campaigns that are known."""
        return len(self._watched) + len(self._unseen)

    def outputs(self, name: str) -> Outputs:
        """Give what came of a campaign on the output topics."""
        return self._outputs.get(name) or Outputs()

    def now(self) -> float:
        """Give the time on the monitor's clock."""
        return monotonic()

    def sample_now(self, watched: Watched) -> Sample:
        """Take down a campaign as it stands."""
        return sample_of(watched.board, at=datetime.now(UTC))

    @property
    def rate(self) -> float:
        """Give the judgments a second of all campaigns."""
        now = monotonic()
        return sum(watched.rate.at(now) for watched in self._watched.values())

    # -- what is told ----------------------------------------------------------------------------------

    def saw_leaderboard(self, leaderboard: Leaderboard, *, at: datetime) -> None:
        """Take a leaderboard from the log, if it is newer than what the store has shown."""
        name = leaderboard.campaign
        self._outputs_of(name).board = leaderboard
        watched = self._watched.get(name)
        if watched is None:
            self._unseen.add(name)
        elif leaderboard.offset > watched.board.offset:
            self._advance(watched, leaderboard, at=at)

    def saw_request(self, request: MatchRequest) -> None:
        """Remember a match request."""
        self._outputs_of(request.campaign).add_request(request)

    def saw_rejection(self, campaign: str, rejection: Rejection, *, at: datetime) -> None:
        """Count a rejection."""
        self._outputs_of(campaign).rejections.add(rejection, at=at)
        self._tell(campaign)

    def _outputs_of(self, name: str) -> Outputs:
        found = self._outputs.setdefault(name, Outputs())
        if len(self._outputs) > MOST_OUTPUTS:  # anybody who publishes may make up names
            del self._outputs[next(each for each in self._outputs if each not in self._watched and each != name)]
        return found

    def _tell(self, name: str) -> None:
        for listener in self.listeners:
            listener(name)

    # -- looking ---------------------------------------------------------------------------------------

    async def _look(self, name: str) -> Look:
        store, watched = self.backend.store, self._watched.get(name)
        now = monotonic()
        if watched and watched.look and await self.backend.run(store.head, name) == watched.look.head:
            watched.looked = now
            return watched.look
        look = await self.backend.run(Look.at, store, name)
        if look is None:
            raise UnknownCampaign(f"there is no campaign {name!r}")
        self._saw(name, look)
        return look

    def _landed(self, name: str, flight: asyncio.Task[Look]) -> None:
        del self._flights[name]
        if not flight.cancelled():
            flight.exception()  # whoever waited for it was told, if anybody still did

    def _saw(self, name: str, look: Look) -> None:
        watched = self._watched.get(name)
        if watched is None:
            watched = self._watched[name] = Watched(name, look.view, look.leaderboard)
            watched.rate.note(monotonic(), look.leaderboard.judgments)
            watched.unnoted = min(look.view.newest, datetime.now(UTC))
            self._unseen.discard(name)
            board = self.outputs(name).board
            if board is not None and board.offset > look.leaderboard.offset:
                self._advance(watched, board, at=datetime.now(UTC))
        before, offset = watched.look, look.leaderboard.offset
        watched.look, watched.view, watched.cost, watched.looked = look, look.view, look.cost, monotonic()
        begun_anew = before is not None and offset < before.leaderboard.offset
        if offset >= watched.board.offset or begun_anew:
            self._advance(watched, look.leaderboard, at=datetime.now(UTC))
        for stale in sorted(self._looked(), key=lambda each: each.looked)[:-MOST_LOOKS]:
            stale.look = None

    def _looked(self) -> list[Watched]:
        return [watched for watched in self._watched.values() if watched.look]

    def _advance(self, watched: Watched, board: Leaderboard, *, at: datetime) -> None:
        if board.sequence != watched.board.sequence:
            watched.unnoted = at
        watched.board = board
        watched.rate.note(monotonic(), board.judgments)
        self._tell(watched.name)

    async def _discover(self) -> None:
        names = await self.backend.run(self.backend.store.campaigns, self.backend.partitions())
        self._unseen |= set(names) - self._watched.keys() - self._unreadable

    async def _try_look(self, name: str) -> None:
        try:
            await self.look(name, within=TICK_SECONDS)
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
                    await self._try_look(name)
                cost = 0.0
                for watched in self._due(monotonic()):
                    await self._try_look(watched.name)
                    cost += watched.cost
                for watched in list(self._watched.values()):
                    await self._note(watched)
            except StoreUnavailable:
                await asyncio.sleep(1.0)
            # All looks together leave most of the time to those who ask.
            await asyncio.sleep(max(TICK_SECONDS, DUTY * cost))

    def _due(self, now: float) -> list[Watched]:
        """Choose the campaigns to look at: those that are followed often, others that have changed now and then."""
        due = []
        for watched in self._watched.values():
            if self.followers[watched.name]:
                wait = TICK_SECONDS
            elif watched.is_behind:
                wait = FRESH_SECONDS if self.onlookers else IDLE_SECONDS
            else:
                continue
            if now - watched.looked >= max(wait, DUTY * watched.cost):
                due.append(watched)
        return due

    async def _note(self, watched: Watched) -> None:
        """Tell the history of a new leaderboard, and of the pairs as they were last seen."""
        if watched.unnoted is None or monotonic() - watched.noted < NOTE_SECONDS:
            return
        watched.noted = monotonic()
        sample, watched.unnoted = sample_of(watched.board, at=watched.unnoted), None
        ledger = self.backend.ledger
        if await self.backend.run(ledger.note, watched.name, sample):
            watched.sample = sample
            self._tell(watched.name)
        look = watched.look
        if look is not None and not 0 <= watched.paired <= look.leaderboard.sequence < PAIRS_GROWTH * watched.paired:
            watched.paired = look.leaderboard.sequence
            await self.backend.run(lambda: ledger.note_pairs(watched.name, look.pair_sample()))


def _tell_of_the_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        log.critical("%s has ended; only a restart helps", task.get_name(), exc_info=task.exception())
