"""All event streams, and who is told of which campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.monitor.live.channels import AllChannel, CampaignChannel, Listener
from streams.monitor.live.messages import RETRY, message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from msgspec import Struct

    from streams.metrics import MonitorMetrics
    from streams.monitor.state.monitor import Monitor


class Hub:
    """All event streams."""

    def __init__(self, monitor: Monitor, status: Callable[[], Awaitable[Struct]], metrics: MonitorMetrics) -> None:
        self._monitor = monitor
        self._metrics = metrics
        self._all = AllChannel(monitor, status, metrics)
        self._campaigns: dict[str, CampaignChannel] = {}
        monitor.listeners.append(self._changed)

    @property
    def streams(self) -> int:
        """Count the open streams."""
        return len(self._all.listeners) + sum(len(channel.listeners) for channel in self._campaigns.values())

    def _changed(self, name: str) -> None:
        self._all.names.add(name)
        if name in self._campaigns:
            self._campaigns[name].changed.set()

    async def all(self) -> AsyncIterator[bytes]:
        """Listen to all campaigns."""
        listener = Listener()
        overviews = await self._monitor.overviews()
        self._monitor.overview_streams += 1
        self._all.join(listener)
        try:
            yield RETRY + b"".join(message("overview", overview) for overview in overviews)
            async for words in listener.messages():
                yield words
        finally:
            self._monitor.overview_streams -= 1
            self._all.leave(listener)

    async def campaign(self, name: str) -> AsyncIterator[bytes]:
        """Listen to one campaign."""
        await self._monitor.snapshot(name)
        watched = await self._monitor.watched(name)
        channel = self._campaigns.get(name)
        if channel is None:
            channel = self._campaigns[name] = CampaignChannel(self._monitor, watched, self._metrics)
        listener = Listener()
        listener.put(channel.everything())
        channel.join(listener)
        self._monitor.campaign_streams[name] += 1
        try:
            async for words in listener.messages():
                yield words
        finally:
            self._monitor.campaign_streams[name] -= 1
            channel.leave(listener)
            if not channel.listeners:
                self._campaigns.pop(name, None)

    def close(self) -> None:
        """End all streams."""
        for channel in (self._all, *self._campaigns.values()):
            channel.close()
