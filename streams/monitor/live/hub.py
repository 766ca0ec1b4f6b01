"""All open event streams, and which of them a change concerns."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from streams.monitor.live.channels import CampaignChannel, Listener, OverviewChannel, find_present
from streams.monitor.live.messages import RETRY, StreamEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from msgspec import Struct

    from streams.metrics import MonitorMetrics
    from streams.monitor.http.access import Viewer
    from streams.monitor.state.monitor import Monitor
    from streams.monitor.state.overviews import Overviews


class StreamHub:
    """All open event streams."""

    def __init__(
        self,
        monitor: Monitor,
        overviews: Overviews,
        status: Callable[[], Awaitable[Struct]],
        metrics: MonitorMetrics,
    ) -> None:
        self._monitor = monitor
        self._list = overviews
        self._first: dict[tuple[str, ...], tuple[int, bytes]] = {}  # by patterns: version of the list, and message
        self._metrics = metrics
        self._turn = asyncio.Lock()
        self._overviews = OverviewChannel(monitor, status, metrics, self._turn)
        self._campaigns: dict[str, CampaignChannel] = {}
        monitor.on_change.append(self._mark_changed)

    @property
    def streams(self) -> int:
        """Return the number of open streams."""
        return len(self._overviews.listeners) + sum(len(channel.listeners) for channel in self._campaigns.values())

    def _mark_changed(self, name: str) -> None:
        self._overviews.names.add(name)
        if name in self._campaigns:
            self._campaigns[name].changed.set()
            if self._monitor.known(name) is None:  # it was deleted: a reader who connects again learns that
                self._campaigns.pop(name).close()

    async def follow_all(self, viewer: Viewer) -> AsyncIterator[bytes]:
        """Yield the messages on all campaigns that may be read."""
        listener = Listener(viewer)
        first = await self._first_message(viewer)
        self._monitor.overview_streams += 1
        self._overviews.join(listener)
        try:
            yield first + StreamEvent("findings", find_present(self._monitor)).encode()
            async for message in listener.messages():
                yield message
        finally:
            self._monitor.overview_streams -= 1
            self._overviews.leave(listener)

    async def _first_message(self, viewer: Viewer) -> bytes:
        """Return the first page of the campaigns. It is encoded once for all who may read the same."""
        page = await self._list.page(viewer.campaigns, viewer.covers)
        version, message = self._first.get(viewer.campaigns, (-1, b""))
        if version != self._list.version:
            message = RETRY + b"".join(StreamEvent("overview", overview).encode() for overview in page.campaigns)
            self._first = {key: each for key, each in self._first.items() if each[0] == self._list.version}
            self._first[viewer.campaigns] = (self._list.version, message)
        return message

    async def follow_campaign(self, name: str, viewer: Viewer) -> AsyncIterator[bytes]:
        """Yield the messages on one campaign."""
        await self._monitor.snapshot(name)
        watched = await self._monitor.watched(name)
        channel = self._campaigns.get(name)
        if channel is None:
            channel = self._campaigns[name] = CampaignChannel(self._monitor, watched, self._metrics, self._turn)
        listener = Listener(viewer)
        listener.put(channel.full_state())
        channel.join(listener)
        self._monitor.campaign_streams[name] += 1
        try:
            async for message in listener.messages():
                yield message
        finally:
            self._monitor.campaign_streams[name] -= 1
            channel.leave(listener)
            if not channel.listeners:
                self._campaigns.pop(name, None)

    def end_streams(self, has_ended: Callable[[Viewer], bool]) -> None:
        """End the streams of some readers."""
        for channel in (self._overviews, *self._campaigns.values()):
            for listener in [each for each in channel.listeners if has_ended(each.viewer)]:
                listener.put(None)

    def close(self) -> None:
        """End all streams."""
        for channel in (self._overviews, *self._campaigns.values()):
            channel.close()
