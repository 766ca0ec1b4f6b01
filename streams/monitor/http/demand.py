"""How many match requests a campaign keeps open: as many as its judges ask for.

The number is changed by a command in the campaign's log, so a replay opens the same requests. A monitor sends it when
a judge finds no free match, and again when most of the judges have gone.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

from streams.errors import BrokerUnavailable, StoreCorrupt, StoreUnavailable
from streams.wire.events import Demand

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignMeta
    from streams.monitor.backends.base import Backend
    from streams.monitor.state.metas import CampaignMetas

log = logging.getLogger(__name__)

GATHER_SECONDS = 0.1  # judges often come together
PAUSE_SECONDS = 0.3  # in which a worker opens the requests
REPEAT_SECONDS = 10.0  # after which a command that had no effect is sent again
CHECK_SECONDS = 60.0  # how often it is checked whether judges have gone


def find_demand(asking: int, *, outstanding: int, most: int) -> int:
    """Return the demand of judges who ask for so many matches, in powers of two. Return 0 if the settings suffice.

    >>> [find_demand(asking, outstanding=8, most=1000) for asking in (8, 9, 30, 5000)]
    [0, 16, 32, 1000]
    """
    if not outstanding or asking <= outstanding:
        return 0
    return max(min(most, 1 << (asking - 1).bit_length()), 0)


class MatchDemand:
    """Keeps the demand of campaigns up to date, in one task for each campaign that was short of matches."""

    def __init__(self, backend: Backend, metas: CampaignMetas, *, seconds: float, most: int) -> None:
        self._backend = backend
        self._metas = metas
        self._seconds = seconds
        self._most = most
        self._short: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, campaign: str, *, judge: str, count: int) -> None:
        """Record that a judge asks for a number of matches."""
        ledger = self._backend.ledger
        await self._backend.run(
            ledger.ask, campaign, judge=judge, count=count, seconds=self._seconds, most=max(1, self._most)
        )

    def report_shortage(self, campaign: str) -> None:
        """Ask for more requests soon, because a judge has found too few."""
        self._short.setdefault(campaign, asyncio.Event()).set()
        if campaign not in self._tasks:
            task = self._tasks[campaign] = asyncio.create_task(self._keep(campaign), name=f"demand of {campaign}")
            task.add_done_callback(lambda _: self._forget(campaign))

    async def stop(self) -> None:
        """Stop all tasks."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _forget(self, campaign: str) -> None:
        del self._tasks[campaign], self._short[campaign]

    async def _keep(self, campaign: str) -> None:
        """Change the demand as judges come and go, until the settings suffice again."""
        short, sent, sent_at = self._short[campaign], -1, 0.0
        while True:
            await asyncio.sleep(GATHER_SECONDS)
            short.clear()
            try:
                meta = await self._metas.read(campaign)
                asking = await self._backend.run(self._backend.ledger.asking, campaign, seconds=self._seconds)
                outstanding, now = meta.status.settings.outstanding, meta.status.demand
                wanted = find_demand(asking, outstanding=outstanding, most=self._most)
                if wanted == now == 0 or meta.status.state != "open":
                    return
                is_repeated = wanted == sent and monotonic() - sent_at < REPEAT_SECONDS
                if (wanted > now or 4 * wanted <= now) and not is_repeated:
                    sent, sent_at = wanted, monotonic()
                    await self._send(meta, wanted)
            except (StoreUnavailable, StoreCorrupt, BrokerUnavailable) as error:
                log.warning("the demand of %s could not be changed: %s", campaign, error, extra={"campaign": campaign})
                return  # the next shortage tries again
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await short.wait()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _send(self, meta: CampaignMeta, requests: int) -> None:
        # A time after the campaign's own would move its clock, and requests would expire.
        at = min(meta.clock, datetime.now(UTC))
        name = f"demand-{uuid4().hex}"
        command = Demand(id=name, campaign=meta.status.campaign, at=at, by="monitor", requests=requests)
        await self._backend.publish([command])
