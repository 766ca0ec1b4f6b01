"""The rating agent's hands: they walk one batch at a time, wait where a server is away, and never drop a record."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter, time
from typing import TYPE_CHECKING, TypeVar

from aiokafka.errors import KafkaError
from faust.exceptions import ProducerSendError

from streams.errors import Conflict, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from streams.metrics import WorkerMetrics
    from streams.pipeline.processor import Processor
    from streams.pipeline.record import Record
    from streams.wire.outputs import Output
    from streams.worker.status import Status

log = logging.getLogger(__name__)

Result = TypeVar("Result")

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 2.0


class Abandoned(Exception):  # noqa: N818 - it names a condition
    """The partition was taken away, or the worker stops: what is not persisted will be read again."""


@dataclass(eq=False)
class Tenure:
    """The time in which this worker owns a partition, with the processor that serves it.

    While it is closing the batch in hand may end; when it is over nothing more is written.
    """

    topic: str
    partition: int
    open_processor: Callable[[], tuple[Processor, tuple[Output, ...]]]
    processor: Processor = field(init=False)  # from the opening on
    opened: bool = False
    closing: bool = False
    over: bool = False
    reading: int = 0  # the offset that the log should give next
    short: int = 0  # how often in a row the log was found to end before it
    quiet_since: int = -1  # the offset at which the last probe found it
    end: int | None = None  # where the log ended when the broker was last asked
    applied_at: float = field(default_factory=time)  # when the applied offset last moved


@dataclass(eq=False)
class Batch:
    """Records of one partition on their way to the rating agent; nothing of the log is between `start` and them."""

    tenure: Tenure
    start: int
    records: Sequence[Record]
    at: float | None = None  # the first one's timestamp
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Rater:
    """Does the processors' work in one thread, so that the event loop goes on answering the broker."""

    def __init__(
        self, send: Callable[[Output], Awaitable[Awaitable[object]]], status: Status, metrics: WorkerMetrics
    ) -> None:
        self._send = send
        self._status = status
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rater")
        self._turn = asyncio.Lock()

    async def open(self, tenure: Tenure) -> None:
        """Take the partition over, and emit again what its last owner may not have emitted."""
        async with self._turn:
            tenure.processor, outputs = await self._insist(tenure, tenure.open_processor)
            await self.emit(outputs, tenure)

    async def walk(self, batch: Batch) -> None:
        """Rate and persist a batch, then emit what comes of it; Fenced and Conflict go to the caller."""
        async with self._turn:
            tenure = batch.tenure
            if tenure.processor.next_offset != batch.start:
                raise Conflict(f"a batch begins at {batch.start}, and {tenure.processor.next_offset} is next")
            commit, rated = await self._insist(tenure, lambda: _timed(lambda: tenure.processor.prepare(batch.records)))
            _, persisted = await self._insist(tenure, lambda: _timed(lambda: tenure.processor.persist(commit)))
            tenure.applied_at = time()
            delay = None if batch.at is None else tenure.applied_at - batch.at
            self._metrics.kept(commit, rated=rated, persisted=persisted, delay=delay)
            with self._metrics.emit_seconds.time():
                await self.emit(commit.outputs, tenure)

    async def verify(self, tenure: Tenure) -> None:
        """See that the store is where this worker left it; Conflict goes to the caller."""
        async with self._turn:
            await self._insist(tenure, tenure.processor.verify)

    async def snapshot(self, tenure: Tenure) -> None:
        """Emit the leaderboards that changed."""
        async with self._turn:
            leaderboards, seconds = await self._insist(tenure, lambda: _timed(tenure.processor.snapshots))
            if leaderboards:
                self._metrics.snapshot_seconds.observe(seconds)
            await self.emit(leaderboards, tenure)

    def close(self) -> None:
        """Let the thread go."""
        self._thread.shutdown(wait=False)

    async def _insist(self, tenure: Tenure, work: Callable[[], Result]) -> Result:
        """Do it, as often as it takes while the store is away."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            if tenure.over:
                raise Abandoned
            try:
                result = await asyncio.get_running_loop().run_in_executor(self._thread, work)
                self._status.answers("Redis")
                return result
            except StoreUnavailable as error:
                self._status.wait_for("Redis", str(error))
                self._metrics.failed("redis")
                log.warning("%s; trying again in %.1f s, nothing is lost", error, pause, extra={"server": "redis"})
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def emit(self, outputs: Sequence[Output], tenure: Tenure | None = None) -> None:
        """Send all outputs and wait until the broker has them; their ids make a repeat harmless."""
        pause = FIRST_PAUSE_SECONDS
        while outputs:
            if tenure is not None and tenure.over:
                raise Abandoned
            try:
                await asyncio.gather(*[await self._send(output) for output in outputs])
            except (KafkaError, ProducerSendError) as error:
                self._status.wait_for("Kafka", str(error))
                self._metrics.failed("kafka")
                log.warning(
                    "Kafka does not take the outputs: %s; trying again in %.1f s",
                    error,
                    pause,
                    extra={"server": "kafka"},
                )
            else:
                self._status.answers("Kafka")
                self._metrics.sent(outputs)
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Do it, and say how many seconds it took: those of the try that went well, not the waiting before it."""
    began = perf_counter()
    return work(), perf_counter() - began
