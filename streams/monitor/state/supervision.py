"""The monitor looks at the workers every second: the lag of each partition, the reports, and what is wrong."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from streams.errors import BrokerUnavailable, StoreUnavailable
from streams.monitor.state.liveness import Findings, Liveness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.monitor.backends.base import Backend, Lag
    from streams.stores.workers import WorkerReport

LOOK_SECONDS = 1.0


class Supervision:
    """What was seen last. While a server of the monitor is away, nothing is concluded: that is the problem then."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._liveness = Liveness()
        self._looked_at = -LOOK_SECONDS
        self.lags: Sequence[Lag] = ()
        self.workers: Sequence[WorkerReport] = ()
        self.rerun_progress: dict[str, float] = {}  # share of the log that is rated again, by campaign
        self.findings = Findings()

    async def run(self) -> None:
        """Look again and again."""
        while True:
            await self.refresh()
            await asyncio.sleep(LOOK_SECONDS)

    async def refresh(self) -> None:
        """Look, unless it was done a moment ago."""
        now = monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        try:
            lags, workers = await self._backend.lags(), await self._backend.workers()
        except (StoreUnavailable, BrokerUnavailable):  # the last lags stay
            self._forget()
            return
        self.lags, self.workers = lags, workers
        self.rerun_progress = {name: share for worker in workers for name, share in worker.rerun_progress.items()}
        if self._backend.waiting():
            self._forget()
        else:
            self.findings = self._liveness.judge(monotonic(), lags, workers)

    def _forget(self) -> None:
        self._liveness.forget()
        self.findings = Findings()
