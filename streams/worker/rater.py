"""The rating agent's work: rate and persist one batch at a time, emit its outputs, and wait where a server is away."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter, time
from typing import TYPE_CHECKING, TypeVar

from streams.errors import BrokerUnavailable, Conflict, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from streams.errors import LogGap
    from streams.metrics import WorkerMetrics
    from streams.pipeline.processor import Processor
    from streams.pipeline.record import Record
    from streams.wire.outputs import Output
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.status import WorkerStatus

log = logging.getLogger(__name__)

Result = TypeVar("Result")

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 2.0


@dataclass(eq=False)
class PartitionBatch:
    """Records of one partition on their way to the rating agent. `start` is the offset that was expected next."""

    ownership: PartitionOwnership
    start: int
    records: Sequence[Record]
    written_at: float | None = None  # timestamp of the first record
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def hole(self) -> int | None:
        """The first offset from `start` on without a record, or None if there is no such offset before the last."""
        if self.records[-1].offset - self.start == len(self.records) - 1:
            return None
        return next(offset for offset, record in enumerate(self.records, self.start) if record.offset != offset)


class Rater:
    """Runs the processors in one thread, so that the event loop goes on answering the broker."""

    def __init__(
        self, send: Callable[[Sequence[Output]], Awaitable[None]], status: WorkerStatus, metrics: WorkerMetrics
    ) -> None:
        self._send = send
        self._status = status
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rater")
        self._turn = asyncio.Lock()

    async def open(
        self, ownership: PartitionOwnership, open_processor: Callable[[], tuple[Processor, Sequence[Output]]]
    ) -> Processor:
        """Open a processor, and emit again what the partition's last owner may not have emitted."""
        async with self._turn:
            (processor, outputs), _ = await self._run(ownership, open_processor)
            await self.emit(outputs, ownership)
            return processor

    async def rate(self, batch: PartitionBatch) -> None:
        """Rate and persist a batch, then emit its outputs. Fenced and Conflict go to the caller."""
        async with self._turn:
            ownership, processor = batch.ownership, batch.ownership.processor
            if processor.next_offset != batch.start:
                raise Conflict(f"the batch begins at offset {batch.start}, but offset {processor.next_offset} is next")
            commit, rated = await self._run(ownership, lambda: processor.prepare(batch.records))
            _, persisted = await self._run(ownership, lambda: processor.persist(commit))
            ownership.applied_at = time()
            delay = None if batch.written_at is None else ownership.applied_at - batch.written_at
            self._metrics.count_batch(commit, rated=rated, persisted=persisted, delay=delay)
            with self._metrics.emit_seconds.time():
                await self.emit(commit.outputs, ownership)

    async def verify(self, ownership: PartitionOwnership, processor: Processor) -> None:
        """Check that the store is where this worker left it. Conflict goes to the caller."""
        async with self._turn:
            await self._run(ownership, processor.verify)

    async def skip(self, ownership: PartitionOwnership, processor: Processor, gap: LogGap) -> bool:
        """Move over records that are gone, if an operator has accepted that. Otherwise write the gap down for them."""
        async with self._turn:
            commit, _ = await self._run(ownership, lambda: processor.skip(gap.start, gap.end))
            if commit is not None:
                self._metrics.records_missing.inc(commit.outcomes.missing)
            return commit is not None

    async def pass_over(self, ownership: PartitionOwnership, end: int) -> None:
        """Move over offsets without a record, at the end of what was read."""
        async with self._turn:
            ownership.check_not_over()
            processor = ownership.processor
            commit = processor.pass_over(end)
            await self._run(ownership, lambda: processor.persist(commit))
            ownership.applied_at = time()
            self._metrics.offsets_empty.inc(commit.outcomes.empty)

    async def snapshot(self, ownership: PartitionOwnership) -> None:
        """Emit the leaderboards that changed."""
        async with self._turn:
            leaderboards, seconds = await self._run(ownership, ownership.processor.snapshots)
            if leaderboards:
                self._metrics.snapshot_seconds.observe(seconds)
            await self.emit(leaderboards, ownership)

    def close(self) -> None:
        """Release the thread."""
        self._thread.shutdown(wait=False)

    async def emit(self, outputs: Sequence[Output], ownership: PartitionOwnership | None = None) -> None:
        """Send all outputs and wait until the broker has them. Their ids make a repeat harmless."""
        if outputs:
            await self._retry("Kafka", BrokerUnavailable, lambda: self._send(outputs), ownership)
            self._metrics.count_outputs(outputs)

    async def _run(self, ownership: PartitionOwnership, work: Callable[[], Result]) -> tuple[Result, float]:
        """Call a function that uses the store, in the thread. Return its result and the seconds of the last attempt."""
        loop = asyncio.get_running_loop()
        return await self._retry("Redis", StoreUnavailable, lambda: loop.run_in_executor(self._thread, work), ownership)

    async def _retry(
        self,
        server: str,
        unavailable: type[BrokerUnavailable | StoreUnavailable],
        attempt: Callable[[], Awaitable[Result]],
        ownership: PartitionOwnership | None,
    ) -> tuple[Result, float]:
        """Try again until the server answers. Return the result and the seconds of the last attempt.

        Raise Abandoned if the ownership is over by then.
        """
        pause = FIRST_PAUSE_SECONDS
        while True:
            if ownership is not None:
                ownership.check_not_over()
            started = perf_counter()
            try:
                result = await attempt()
            except unavailable as error:
                self._status.mark_away(server, str(error))
                self._metrics.count_error(server)
                fields = {"server": server.lower()}
                log.warning("%s; trying again in %.1f s, nothing is lost", error, pause, extra=fields)
            else:
                if self._status.away:
                    self._status.mark_back(server)
                return result, perf_counter() - started
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
