"""The small part of a campaign's state, read for one request or for many that come at the same time."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from streams.monitor.state.lookup import UnknownCampaign, check_name

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignMeta
    from streams.monitor.backends.base import Backend

MOST_RECENT = 1000  # kept


class _Read(NamedTuple):
    began: float
    task: asyncio.Task[CampaignMeta | None]


class CampaignMetas:
    """Reads the status and the outstanding requests of campaigns. Callers may share a read."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._recent: dict[str, _Read] = {}

    async def find(self, name: str, *, within: float = 0.0) -> CampaignMeta | None:
        """Return what a read that began at most `within` seconds ago finds. Return None if there is no campaign."""
        read = self._recent.get(name)
        if read is None or monotonic() - read.began >= within:
            task = asyncio.ensure_future(self._backend.run(self._backend.store.read_meta, name))
            task.add_done_callback(_retrieve)
            self._recent.pop(name, None)
            read = self._recent[name] = _Read(monotonic(), task)
            if len(self._recent) > MOST_RECENT:
                del self._recent[next(iter(self._recent))]
        return await asyncio.shield(read.task)

    async def read(self, name: str, *, within: float = 0.0) -> CampaignMeta:
        """Return the same, or raise UnknownCampaign."""
        check_name(name)
        meta = await self.find(name, within=within)
        if meta is None:
            raise UnknownCampaign(f"there is no campaign {name!r}")
        return meta


def _retrieve(task: asyncio.Task[CampaignMeta | None]) -> None:
    """Retrieve the outcome of a read. The client may have gone, and asyncio would complain about an error."""
    if not task.cancelled():
        task.exception()
