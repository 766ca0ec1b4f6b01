"""All open event streams, and which of them a change concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.monitor.live.channels import CampaignChannel, Listener, OverviewChannel, find_present
from streams.monitor.live.messages import RETRY, StreamEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from msgspec import Struct

    from streams.metrics import MonitorMetrics
    from streams.monitor.http.access import Viewer
    from streams.monitor.state.monitor import Monitor


class StreamHub:
    """All open event streams."""

    def __init__(self, monitor: Monitor, status: Callable[[], Awaitable[Struct]], metrics: MonitorMetrics) -> None:
        self._monitor = monitor
        self._metrics = metrics
        self._overviews = OverviewChannel(monitor, status, metrics)
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

    async def follow_all(self, viewer: Viewer) -> AsyncIterator[bytes]:
        """Yield the messages on all campaigns that may be read."""
        listener = Listener(viewer)
        overviews = [each for each in await self._monitor.overviews() if viewer.covers(each.campaign)]
        self._monitor.overview_streams += 1
        self._overviews.join(listener)
        try:
            events = [*(StreamEvent("overview", overview) for overview in overviews)]
            events.append(StreamEvent("findings", find_present(self._monitor)))
            yield RETRY + b"".join(event.encode() for event in events)
            async for message in listener.messages():
                yield message
        finally:
            self._monitor.overview_streams -= 1
            self._overviews.leave(listener)

    async def follow_campaign(self, name: str, viewer: Viewer) -> AsyncIterator[bytes]:
        """Yield the messages on one campaign."""
        await self._monitor.snapshot(name)
        watched = await self._monitor.watched(name)
        channel = self._campaigns.get(name)
        if channel is None:
            channel = self._campaigns[name] = CampaignChannel(self._monitor, watched, self._metrics)
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
