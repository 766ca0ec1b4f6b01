"""Event streams on the same thing: what changed is put into words once, and handed to everybody who listens."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from streams.monitor.live.messages import (
    COMMENT,
    RETRY,
    HistoryUpdate,
    RejectionCount,
    RequestCount,
    StreamEvent,
    difference,
    message,
)
from streams.monitor.state.queries import point

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from msgspec import Struct

    from streams.metrics import MonitorMetrics
    from streams.monitor.state.monitor import Monitor
    from streams.monitor.state.snapshot import Overview
    from streams.monitor.state.watched import WatchedCampaign

PAUSE_SECONDS = 0.25  # between two messages on one campaign
QUIET_SECONDS = 15.0  # after which a comment keeps the connection open
STATUS_SECONDS = 5.0
ALL_PAUSE_SECONDS = 1.0  # between two overviews of one campaign
MOST_WAITING = 32  # messages for one listener, beyond which it is told everything anew instead


class Listener:
    """One connection: messages wait here until it takes them; None ends it."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.behind = False

    @property
    def waiting(self) -> int:
        """Count the messages that wait."""
        return self._queue.qsize()

    def put(self, words: bytes | None) -> None:
        """Hand a message over; somebody who does not keep up is `behind`, and loses what waits."""
        if self._queue.qsize() >= MOST_WAITING:
            while not self._queue.empty():
                self._queue.get_nowait()
            self.behind = True
        self._queue.put_nowait(words)

    async def messages(self) -> AsyncIterator[bytes]:
        """Give the messages as they come, and a comment where none does."""
        while True:
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    words = await self._queue.get()
            except TimeoutError:
                yield COMMENT
                continue
            if words is None:
                return
            yield words


class Channel:
    """Those who listen to the same, and the task that tells them while there are any."""

    def __init__(self, metrics: MonitorMetrics) -> None:
        self._metrics = metrics
        self.listeners: set[Listener] = set()
        self.changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def join(self, listener: Listener) -> None:
        """Begin to tell somebody."""
        self.listeners.add(listener)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    def leave(self, listener: Listener) -> None:
        """Tell them no more."""
        self.listeners.discard(listener)
        if not self.listeners and self._task is not None:
            self._task.cancel()
            self._task = None

    def close(self) -> None:
        """End all streams."""
        for listener in list(self.listeners):
            listener.put(None)

    async def _run(self) -> None:
        raise NotImplementedError

    def tell(self, news: list[StreamEvent]) -> None:
        """Hand news to everybody, as one message."""
        words = b"".join(message(*each) for each in news)
        for listener in self.listeners:
            listener.put(words)
        for each in news:
            self._metrics.events_sent.labels(each.event).inc(len(self.listeners))


class CampaignChannel(Channel):
    """One campaign; everybody on it was told the same so far."""

    def __init__(self, monitor: Monitor, watched: WatchedCampaign, metrics: MonitorMetrics) -> None:
        super().__init__(metrics)
        self._monitor, self._watched = monitor, watched
        self.board = watched.board
        self._overview, self._summed = watched.overview(monitor.now()), monitor.now()
        self._sample = watched.sample
        self._requests = self._count_requests()
        self._rejections = monitor.outputs(watched.name).rejections.total

    def everything(self) -> bytes:
        """Tell a newcomer all that the others know."""
        sequence = self.board.sequence
        news = {
            "leaderboard": self.board,
            "overview": self._overview,
            "requests": RequestCount(count=self._requests),
            "rejections": self._rejection_count(),
        }
        return RETRY + b"".join(message(event, data, sequence) for event, data in news.items())

    def _count_requests(self) -> int:
        return len(self._watched.snapshot.requests) if self._watched.snapshot else self._watched.view.outstanding

    def _rejection_count(self) -> RejectionCount:
        found = self._monitor.outputs(self._watched.name).rejections
        total = max(found.total, self._watched.view.rejected)
        return RejectionCount(total=total, reasons=dict(found.reasons.most_common()))

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(ALL_PAUSE_SECONDS):  # in which the rate changes where nothing else does
                    await self.changed.wait()
            self.changed.clear()
            if news := self._news():
                self.tell(news)
                for listener in self.listeners:
                    if listener.behind:
                        listener.behind = False
                        listener.put(self.everything())
            await asyncio.sleep(PAUSE_SECONDS)

    def _news(self) -> list[StreamEvent]:
        news: list[StreamEvent] = []
        watched = self._watched
        board, sequence = watched.board, watched.board.sequence
        if board is not self.board and board != self.board:
            news.append(StreamEvent("rows", difference(self.board, board), sequence))
            self.board = board
        now = self._monitor.now()
        if now - self._summed >= ALL_PAUSE_SECONDS and (overview := watched.overview(now)) != self._overview:
            news.append(StreamEvent("overview", overview, sequence))
            self._overview, self._summed = overview, now
        if watched.sample is not None and watched.sample is not self._sample:
            self._sample = watched.sample
            systems = list(self._sample.rows)
            news.append(
                StreamEvent("history", HistoryUpdate(systems=systems, sample=point(self._sample, systems)), sequence)
            )
        if (count := self._count_requests()) != self._requests:
            news.append(StreamEvent("requests", RequestCount(count=count), sequence))
            self._requests = count
        rejections = self._rejection_count()
        if rejections.total != self._rejections:
            news.append(StreamEvent("rejections", rejections, sequence))
            self._rejections = rejections.total
        return news


class AllChannel(Channel):
    """All campaigns at a glance, and the status."""

    def __init__(self, monitor: Monitor, status: Callable[[], Awaitable[Struct]], metrics: MonitorMetrics) -> None:
        super().__init__(metrics)
        self._monitor, self._status = monitor, status
        self.names: set[str] = set()
        self._told: dict[str, Overview] = {}

    async def _run(self) -> None:
        monitor, told_status = self._monitor, 0.0
        while True:
            news: list[StreamEvent] = []
            now = monitor.now()
            if now - told_status >= STATUS_SECONDS:
                told_status = now
                news.append(StreamEvent("status", await self._status()))
                self.names |= {name for name, told in self._told.items() if told.rate > 0}
            for name in sorted(self.names):
                watched = monitor.known(name)
                overview = watched.overview(now) if watched else None
                if overview is not None and overview != self._told.get(name):
                    self._told[name] = overview
                    news.append(StreamEvent("overview", overview))
            self.names.clear()
            if news:
                self.tell(news)
            await asyncio.sleep(ALL_PAUSE_SECONDS)
