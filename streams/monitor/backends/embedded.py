"""The monitor without servers: log, worker and store are in this process."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from time import monotonic
from typing import TYPE_CHECKING

from streams.monitor.backends.base import Arguments, Lag, Result
from streams.monitor.backends.records import FOLLOWED, dispatch
from streams.monitor.ledger.memory import MemoryLedger
from streams.stores.workers import WorkerReport
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.core.campaign.campaign import Campaign
    from streams.monitor.backends.base import OutputHandler
    from streams.monitor.ledger.base import Ledger
    from streams.pipeline.embedded import Embedded
    from streams.pipeline.record import Record
    from streams.wire.events import Command, Judgment

CHUNK = 1000


class EmbeddedBackend:
    """An embedded stream. All calls to it run in one thread, one after the other."""

    def __init__(self, stream: Embedded) -> None:
        self.stream = stream
        self.store = stream.store
        self.ledger: Ledger = MemoryLedger(clock=monotonic)
        self._thread = ThreadPoolExecutor(1, "stream")
        self._next_offsets: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._handler: OutputHandler
        self._snapshots: asyncio.Task[None]

    async def start(self, handler: OutputHandler) -> None:
        """Start to pass outputs to the handler."""
        self._handler = handler
        await self.work(lambda: None)
        self._snapshots = asyncio.create_task(self._snapshot(), name="snapshots")

    async def stop(self) -> None:
        """Stop the snapshots and the thread."""
        self._snapshots.cancel()
        await asyncio.wait([self._snapshots])
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _snapshot(self) -> None:
        """Emit leaderboards at intervals, as a worker does."""
        while True:
            await asyncio.sleep(self.stream.settings.snapshot_seconds)
            await self.work(self.stream.snapshot)

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Call a function that uses the store or the ledger."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *args, **kwargs))

    async def work(self, function: Callable[[], Result]) -> Result:
        """Call a function that appends to the log, process the records, and pass the outputs to the handler."""
        result, outputs = await self.run(self._process, function)
        now = datetime.now(UTC)
        for topic, record in outputs:
            dispatch(self._handler, topic, record.key, record.value, at=now)
        return result

    def _process(self, function: Callable[[], Result]) -> tuple[Result, list[tuple[str, Record]]]:
        result = function()
        self.stream.run()
        outputs: list[tuple[str, Record]] = []
        for topic in FOLLOWED:
            for partition in range(self.stream.log.partitions):
                place = topic.name, partition
                while records := self.stream.log.read(*place, start=self._next_offsets[place], limit=CHUNK):
                    self._next_offsets[place] += len(records)
                    outputs += [(topic.name, record) for record in records]
        return result, outputs

    async def publish(self, events: Sequence[Judgment | Command]) -> None:
        """Append events to the log and process them."""

        def append() -> None:
            for event in events:
                self.stream.publish(event)

        await self.work(append)

    def campaign_of_judge(self, campaign: str, judge: str) -> Campaign | None:
        """Return a campaign with the judgments of one judge alone, rated again from the log, or None."""
        return self.stream.campaign_of_judge(campaign, judge)

    def partitions(self) -> list[str]:
        """Return the names of the log's partitions."""
        return [f"{topics.JUDGMENTS.name}/{number}" for number in range(self.stream.log.partitions)]

    async def lags(self) -> list[Lag]:
        """Return the lag of each partition."""
        return await self.run(
            lambda: [
                Lag(
                    partition=processor.partition,
                    end=(end := self.stream.log.end(topics.JUDGMENTS.name, processor.partition)),
                    readable=end,
                    applied=processor.next_offset,
                    lag=end - processor.next_offset,
                )
                for processor in self.stream.processors
            ]
        )

    async def workers(self) -> list[WorkerReport]:
        """Return a report of this process, which is the only worker."""
        numbers = tuple(processor.partition for processor in self.stream.processors)
        return [WorkerReport(worker="this process", version=version("judgestream"), open=numbers)]

    def tasks(self) -> list[asyncio.Task[None]]:
        """Return the task of the snapshots."""
        return [self._snapshots]

    def waiting(self) -> list[str]:
        """Return nothing: there are no servers to wait for."""
        return []
