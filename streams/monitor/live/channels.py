"""Listeners of the same stream: each change is encoded once and sent to all of them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from streams.monitor.live.messages import (
    COMMENT,
    RETRY,
    FindingsUpdate,
    GoneCampaign,
    HistoryUpdate,
    RejectionCount,
    RequestCount,
    StreamEvent,
    rows_update,
)
from streams.monitor.state.history import point_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from msgspec import Struct

    from streams.metrics import MonitorMetrics
    from streams.monitor.http.access import Viewer
    from streams.monitor.state.monitor import Monitor
    from streams.monitor.state.snapshot import Overview
    from streams.monitor.state.watched import WatchedCampaign

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.25  # between two messages on one campaign
QUIET_SECONDS = 15.0  # without messages, after which a comment keeps the connection open
STATUS_SECONDS = 5.0
OVERVIEW_SECONDS = 1.0  # between two overviews of one campaign
AT_ONCE = 20  # listeners that are written to before other requests get their turn
MOST_WAITING = 32  # messages per listener; a slower listener gets the full state instead


class Listener:
    """The messages that wait to be sent on one connection. None ends the stream."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.behind = False

    @property
    def waiting(self) -> int:
        """Return the number of waiting messages."""
        return self._queue.qsize()

    def put(self, message: bytes | None) -> None:
        """Add a message. If too many are waiting, drop them and set `behind`."""
        if self._queue.qsize() >= MOST_WAITING:
            while not self._queue.empty():
                self._queue.get_nowait()
            self.behind = True
        self._queue.put_nowait(message)

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages as they arrive."""
        while (message := await self._queue.get()) is not None:
            yield message


def find_present(monitor: Monitor) -> FindingsUpdate:
    """Return what an operator should know now."""
    return FindingsUpdate(problems=monitor.problems(), notes=list(monitor.supervision.findings.notes))


class Channel:
    """The listeners of one stream. A task sends to them while there are any."""

    def __init__(self, metrics: MonitorMetrics, turn: asyncio.Lock) -> None:
        self._metrics = metrics
        self._turn = turn
        self.listeners: set[Listener] = set()
        self.changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def join(self, listener: Listener) -> None:
        """Add a listener. The first one starts the task."""
        self.listeners.add(listener)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
            self._task.add_done_callback(self._end)

    def leave(self, listener: Listener) -> None:
        """Remove a listener. The last one stops the task."""
        self.listeners.discard(listener)
        if not self.listeners and self._task is not None:
            self._task.cancel()
            self._task = None

    def close(self) -> None:
        """End the streams of all listeners."""
        for listener in list(self.listeners):
            listener.put(None)

    def _end(self, task: asyncio.Task[None]) -> None:
        """If the task has failed, end the streams of its listeners: they connect again, and others do not notice."""
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("an event stream failed", exc_info=error)
            self.close()

    async def _run(self) -> None:
        raise NotImplementedError

    async def send(self, events: list[StreamEvent]) -> None:
        """Send events to all listeners, as one message, or a comment if there are none.

        A listener gets only what it may read.
        """
        encoded = [(event.campaign, event.encode()) for event in events] or [(None, COMMENT)]
        messages: dict[tuple[str, ...], bytes] = {}  # by the patterns of the campaigns that may be read
        listeners = list(self.listeners)  # one that joins from now on begins with the state after these events
        async with self._turn:  # of the channels, so that only a few listeners are written to at once
            for number, listener in enumerate(listeners, 1):
                viewer = listener.viewer
                if viewer.campaigns not in messages:
                    parts = (data for campaign, data in encoded if campaign is None or viewer.covers(campaign))
                    messages[viewer.campaigns] = b"".join(parts)
                if message := messages[viewer.campaigns]:
                    listener.put(message)
                if number % AT_ONCE == 0:
                    await asyncio.sleep(0)  # other requests are served in between
        for event in events:
            self._metrics.events_sent.labels(event.event).inc(len(self.listeners))


class CampaignChannel(Channel):
    """The stream of one campaign. All its listeners have received the same state."""

    def __init__(self, monitor: Monitor, watched: WatchedCampaign, metrics: MonitorMetrics, turn: asyncio.Lock) -> None:
        super().__init__(metrics, turn)
        self._monitor, self._watched = monitor, watched
        self.board = watched.board
        self._overview, self._overview_at = watched.overview(monitor.now()), monitor.now()
        self._sample = watched.sample
        self._requests = self._count_requests()
        self._rejections = monitor.outputs(watched.name).rejections.total
        self._findings = find_present(monitor)

    def full_state(self) -> bytes:
        """Return the message for a new listener: all that the others have received."""
        sequence = self.board.sequence
        events = (
            StreamEvent("leaderboard", self.board, sequence),
            StreamEvent("overview", self._overview, sequence),
            StreamEvent("requests", RequestCount(count=self._requests), sequence),
            StreamEvent("rejections", self._count_rejections(), sequence),
            StreamEvent("findings", self._findings, sequence),
        )
        return RETRY + b"".join(event.encode() for event in events)

    def _count_requests(self) -> int:
        return len(self._watched.snapshot.requests) if self._watched.snapshot else self._watched.view.outstanding

    def _count_rejections(self) -> RejectionCount:
        rejections = self._monitor.outputs(self._watched.name).rejections
        total = max(rejections.total, self._watched.view.rejected)
        return RejectionCount(total=total, reasons=dict(rejections.reasons.most_common()))

    async def _run(self) -> None:
        sent_at = self._monitor.now()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(OVERVIEW_SECONDS):  # the rate changes even if nothing else does
                    await self.changed.wait()
            self.changed.clear()
            if events := self._new_events():
                sent_at = self._monitor.now()
                await self.send(events)
                for listener in self.listeners:
                    if listener.behind:
                        listener.behind = False
                        listener.put(self.full_state())
            elif self._monitor.now() - sent_at >= QUIET_SECONDS:
                sent_at = self._monitor.now()
                await self.send([])
            await asyncio.sleep(PAUSE_SECONDS)

    def _new_events(self) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        watched = self._watched
        board, sequence = watched.board, watched.board.sequence
        if board is not self.board and board != self.board:
            events.append(StreamEvent("rows", rows_update(self.board, board), sequence))
            self.board = board
        now = self._monitor.now()
        if now - self._overview_at >= OVERVIEW_SECONDS and (overview := watched.overview(now)) != self._overview:
            events.append(StreamEvent("overview", overview, sequence))
            self._overview, self._overview_at = overview, now
        if watched.sample is not None and watched.sample is not self._sample:
            self._sample = watched.sample
            systems = list(self._sample.rows)
            update = HistoryUpdate(systems=systems, sample=point_of(self._sample, systems))
            events.append(StreamEvent("history", update, sequence))
        if (count := self._count_requests()) != self._requests:
            events.append(StreamEvent("requests", RequestCount(count=count), sequence))
            self._requests = count
        rejections = self._count_rejections()
        if rejections.total != self._rejections:
            events.append(StreamEvent("rejections", rejections, sequence))
            self._rejections = rejections.total
        if (findings := find_present(self._monitor)) != self._findings:
            events.append(StreamEvent("findings", findings, sequence))
            self._findings = findings
        return events


class OverviewChannel(Channel):
    """The stream of all campaigns: their overviews, and the status."""

    def __init__(
        self, monitor: Monitor, status: Callable[[], Awaitable[Struct]], metrics: MonitorMetrics, turn: asyncio.Lock
    ) -> None:
        super().__init__(metrics, turn)
        self._monitor, self._status = monitor, status
        self.names: set[str] = set()  # campaigns that changed
        self._sent: dict[str, Overview] = {}
        self._findings: FindingsUpdate | None = None

    async def _run(self) -> None:
        monitor, status_at = self._monitor, 0.0
        while True:
            events: list[StreamEvent] = []
            now = monitor.now()
            if now - status_at >= STATUS_SECONDS:
                status_at = now
                events.append(StreamEvent("status", await self._status()))
                self.names |= {name for name, sent in self._sent.items() if sent.rate > 0}
            if (findings := find_present(monitor)) != self._findings:
                events.append(StreamEvent("findings", findings))
                self._findings = findings
            for name in sorted(self.names):
                watched = monitor.known(name)
                overview = watched.overview(now) if watched else None
                if overview is None and name in monitor.deleted:
                    self._sent.pop(name, None)
                    events.append(StreamEvent("gone", GoneCampaign(campaign=name), campaign=name))
                if overview is not None and overview != self._sent.get(name):
                    self._sent[name] = overview
                    events.append(StreamEvent("overview", overview, campaign=name))
            self.names.clear()
            if events:
                await self.send(events)
            await asyncio.sleep(OVERVIEW_SECONDS)
