"""The rating agent's work: rate and persist one batch at a time, emit its outputs, and wait where a server is away."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import attrgetter
from time import monotonic, perf_counter, time
from typing import TYPE_CHECKING, TypeVar

from streams.errors import BrokerUnavailable, StoreUnavailable
from streams.worker.batches import (
    LATE_SECONDS,
    RatedBatch,
    TurnOwnerships,
    check_all,
    confirm_all,
    prepare_all,
    rate_and_persist,
)
from streams.worker.confirmations import Confirmations
from streams.worker.ownership import Abandoned, Phase
from streams.worker.retrying import Retrying
from streams.worker.turn_lock import TurnLock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from streams.errors import LogGap
    from streams.metrics import WorkerMetrics
    from streams.pipeline.processor import Processor
    from streams.wire.outputs import Output
    from streams.worker.batches import PartitionBatch
    from streams.worker.confirmations import Confirm
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.status import WorkerStatus

    Fail = Callable[[PartitionOwnership, Exception], Awaitable[None]]

log = logging.getLogger(__name__)

Result = TypeVar("Result")


class Rater:
    """Runs the processors in one thread, so that the event loop goes on answering the broker."""

    def __init__(
        self, send: Callable[[Sequence[Output]], Awaitable[None]], status: WorkerStatus, metrics: WorkerMetrics
    ) -> None:
        self._send = send
        self._status = status
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rater")
        self._board_thread = ThreadPoolExecutor(1, thread_name_prefix="boards")
        self._retrying = Retrying(status, metrics)
        self.turn = TurnLock()
        self._confirmations = Confirmations(self._confirm)
        self._closed = False

    async def open(
        self, ownership: PartitionOwnership, open_processor: Callable[[], tuple[Processor, Sequence[Output]]]
    ) -> Processor:
        """Open a processor, and emit again what the partition's last owner may not have emitted."""
        async with self.turn:
            since = monotonic()
            (processor, outputs), _ = await self.run(ownership, open_processor)
            await self._emit_owned(outputs, ownership, processor, since=since)
            return processor

    async def rate(self, batch: PartitionBatch) -> None:
        """Rate and persist a batch, then emit its outputs. Fenced and Conflict go to the caller."""
        errors: list[Exception] = []

        async def keep(_: PartitionOwnership, error: Exception) -> None:
            errors.append(error)

        await (await self.rate_all([batch], keep, confirm_at_once=True))
        if errors:
            raise errors[0]

    async def rate_all(
        self, batches: Sequence[PartitionBatch], fail: Fail, *, confirm_at_once: bool = False
    ) -> asyncio.Task[None]:
        """Rate and persist the batches of a turn, and begin to emit their outputs. Return the task that does.

        The outputs of a turn are emitted while the next one is rated. But the next one is persisted when the broker has
        them: until then only the outboxes in the store have them. `fail` is called with what went wrong in a partition.
        """
        async with self.turn.rating:
            rated = [RatedBatch(batch) for batch in batches]
            if self.turn.emission.locked():
                await self.run(None, lambda: prepare_all(rated))
            await self.turn.emission.acquire()
            try:
                (since, seconds), _ = await self.run(None, lambda: rate_and_persist(rated))
                confirm = self._confirm if confirm_at_once else self._confirmations.wait
                emission = asyncio.create_task(self._emit_turn(rated, since, fail, confirm))  # it releases the lock
            except BaseException:
                self.turn.emission.release()
                raise
        self._count(rated, persisted=seconds)
        for each in rated:
            if each.error is not None:
                await fail(each.batch.ownership, each.error)
        return emission

    def _count(self, rated: Sequence[RatedBatch], *, persisted: float) -> None:
        now = time()
        for each in rated:
            if each.is_persisted and each.commit is not None:
                each.ownership.applied_at = now
                each.ownership.limit_batches(len(each.batch.records), each.commit.most_rows)
                delay = None if each.batch.written_at is None else now - each.batch.written_at
                self._metrics.count_batch(each.commit, rated=each.seconds, persisted=persisted, delay=delay)

    async def _emit_turn(self, rated: Sequence[RatedBatch], since: float, fail: Fail, confirm: Confirm) -> None:
        """Emit the outputs of a turn, as `_emit_owned` does for one partition."""
        owned, started = [each for each in rated if each.error is None and each.outputs], perf_counter()
        sending = owned
        try:
            try:
                if sending and monotonic() - since > LATE_SECONDS:
                    await self.run(None, lambda: check_all(sending))
                    sending = [each for each in owned if each.error is None]
                if sending:
                    await self.emit([output for each in sending for output in each.outputs], TurnOwnerships.of(sending))
            finally:
                self.turn.emission.release()
                for _ in filter(attrgetter("is_persisted"), rated):
                    self._metrics.emit_seconds.observe(perf_counter() - started)
                if sending:
                    await confirm(sending)  # the broker may have some of them
        except Exception as error:  # noqa: BLE001 - nobody waits for the task: the guards decide what it means
            for each in sending:
                each.error = each.error or error
        for each in owned:
            if each.error is not None:
                await fail(each.batch.ownership, each.error)

    async def _confirm(self, sent: Sequence[RatedBatch]) -> None:
        """Find out whether the outputs came too late."""
        await self.run(None, lambda: confirm_all(sent))

    async def verify(self, ownership: PartitionOwnership, processor: Processor) -> None:
        """Check that the store is where this worker left it. Conflict goes to the caller."""
        async with self.turn:
            await self.run(ownership, processor.verify)

    async def skip(self, ownership: PartitionOwnership, processor: Processor, gap: LogGap) -> bool:
        """Move over records that are gone, if an operator has accepted that. Otherwise write the gap down for them."""
        async with self.turn:
            commit, _ = await self.run(ownership, lambda: processor.skip(gap.start, gap.end))
            if commit is not None:
                self._metrics.records_missing.inc(commit.outcomes.missing)
            return commit is not None

    async def pass_over(self, ownership: PartitionOwnership, end: int) -> None:
        """Move over offsets without a record, at the end of what was read."""
        async with self.turn:
            ownership.check_not_over()
            processor = ownership.processor
            commit = processor.pass_over(end)
            await self.run(ownership, lambda: processor.persist(commit))
            ownership.applied_at = time()
            self._metrics.offsets_empty.inc(commit.outcomes.empty)

    async def choose_requests(self, ownership: PartitionOwnership) -> None:
        """Choose match requests of the next campaign with many systems beside the rating of batches, and emit them."""
        processor = ownership.processor
        async with self.turn:
            drafted, _ = await self.run(ownership, processor.requests.draft)
        if drafted is None:
            return
        chosen = await self.run_beside(drafted.choose)
        async with self.turn:
            ownership.check_not_over()
            since = monotonic()
            change, outputs = processor.requests.open(chosen)
            if change is not None:
                await self.run(ownership, partial(processor.requests.persist, change))
            await self._emit_owned(outputs, ownership, processor, since=since)

    def close(self) -> None:
        """Release the threads."""
        self._closed = True
        self._thread.shutdown(wait=False)
        self._board_thread.shutdown(wait=False, cancel_futures=True)

    async def emit(
        self, outputs: Sequence[Output], ownership: PartitionOwnership | TurnOwnerships | None = None
    ) -> None:
        """Send all outputs and wait until the broker has them. Their ids make a repeat harmless."""
        if outputs:
            await self._retrying.run("Kafka", BrokerUnavailable, lambda: self._send(outputs), ownership)
            self._metrics.count_outputs(outputs)

    async def ask(self, ownership: PartitionOwnership, read: Callable[[], Result]) -> Result:
        """Call a function that reads from a processor or the store, and return its result."""
        async with self.turn:
            return (await self.run(ownership, read))[0]

    async def ask_all(
        self, ownerships: Sequence[PartitionOwnership], read: Callable[[Processor], Result]
    ) -> list[tuple[PartitionOwnership, Result]]:
        """Call a function for each processor, all in one turn. A partition that nobody may write to is left out."""

        def read_all() -> list[tuple[PartitionOwnership, Result]]:
            return [(each, read(each.processor)) for each in ownerships if each.phase is not Phase.OVER]

        async with self.turn:
            return (await self.run(TurnOwnerships(ownerships), read_all))[0]

    async def finish(self, ownership: PartitionOwnership, work: Callable[[], Sequence[Output]]) -> None:
        """Call a function that uses a processor and the store, and emit its outputs, for one who has the turn."""
        processor, since = ownership.processor, monotonic()
        outputs, _ = await self.run(ownership, work)
        await self._emit_owned(outputs, ownership, processor, since=since)

    async def _emit_owned(
        self, outputs: Sequence[Output], ownership: PartitionOwnership, processor: Processor, *, since: float
    ) -> None:
        """Emit outputs of a partition that this worker owned at a time. Fenced goes to the caller.

        The process may have been stopped since, and another worker may have gone on. That one emits these outputs too,
        and newer ones. So a worker that is late asks first. It can be stopped once more after that, so it asks again
        when the broker has the outputs, always: if they are late, the new owner has to repeat what is newer.
        """
        if not outputs:
            return
        if monotonic() - since > LATE_SECONDS:
            await self.run(ownership, processor.check_owner)
        try:
            await self.emit(outputs, ownership)
        except Abandoned:
            await self.run(None, processor.confirm_emitted)  # the broker may have some of them
            raise
        await self.run(None, processor.confirm_emitted)

    async def run(
        self, ownership: PartitionOwnership | TurnOwnerships | None, work: Callable[[], Result]
    ) -> tuple[Result, float]:
        """Call a function that uses the store, in the thread. Return its result and the seconds of the last attempt."""
        began = self._status.work_began_at = monotonic()
        try:
            return await self._retrying.run(
                "Redis", StoreUnavailable, partial(self._in_thread, work, self._thread), ownership
            )
        finally:
            if self._status.work_began_at == began:  # no other work waits for the thread
                self._status.work_began_at = None

    def run_beside(self, work: Callable[[], Result]) -> Awaitable[Result]:
        """Call a function that needs no turn, because it has copies of all that it needs, in a thread of its own."""
        return self._in_thread(work, self._board_thread)

    def _in_thread(self, work: Callable[[], Result], thread: ThreadPoolExecutor) -> Awaitable[Result]:
        if self._closed:
            raise Abandoned
        return asyncio.get_running_loop().run_in_executor(thread, work)
