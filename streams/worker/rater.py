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
    RatedBatch,
    TurnOwnerships,
    check_all,
    confirm_all,
    prepare_all,
    rate_and_persist,
)
from streams.worker.confirmations import Confirmations
from streams.worker.ownership import Abandoned
from streams.worker.retrying import Retrying
from streams.worker.turn_lock import TurnLock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from streams.errors import LogGap
    from streams.metrics import WorkerMetrics
    from streams.pipeline.leaderboards import DraftedBoard, FinishedBoard
    from streams.pipeline.processor import Processor
    from streams.wire.outputs import Output
    from streams.worker.batches import PartitionBatch
    from streams.worker.confirmations import Confirm
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.status import WorkerStatus

    Fail = Callable[[PartitionOwnership, Exception], Awaitable[None]]

log = logging.getLogger(__name__)

Result = TypeVar("Result")

REPEATED_AT_ONCE = 100  # campaigns whose outputs are emitted again before the next batch may be rated
LATE_SECONDS = 1.0  # a session of the group lasts longer


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
            (processor, outputs), _ = await self._run(ownership, open_processor)
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
                await self._run(None, lambda: prepare_all(rated))
            await self.turn.emission.acquire()
            try:
                (since, seconds), _ = await self._run(None, lambda: rate_and_persist(rated))
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
                each.batch.ownership.applied_at = now
                delay = None if each.batch.written_at is None else now - each.batch.written_at
                self._metrics.count_batch(each.commit, rated=each.seconds, persisted=persisted, delay=delay)

    async def _emit_turn(self, rated: Sequence[RatedBatch], since: float, fail: Fail, confirm: Confirm) -> None:
        """Emit the outputs of a turn, as `_emit_owned` does for one partition."""
        owned, started = [each for each in rated if each.error is None and each.outputs], perf_counter()
        sending = owned
        try:
            try:
                if sending and monotonic() - since > LATE_SECONDS:
                    await self._run(None, lambda: check_all(sending))
                    sending = [each for each in owned if each.error is None]
                if sending:
                    await self.emit([output for each in sending for output in each.outputs], TurnOwnerships(sending))
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
        await self._run(None, lambda: confirm_all(sent))

    async def verify(self, ownership: PartitionOwnership, processor: Processor) -> None:
        """Check that the store is where this worker left it. Conflict goes to the caller."""
        async with self.turn:
            await self._run(ownership, processor.verify)

    async def skip(self, ownership: PartitionOwnership, processor: Processor, gap: LogGap) -> bool:
        """Move over records that are gone, if an operator has accepted that. Otherwise write the gap down for them."""
        async with self.turn:
            commit, _ = await self._run(ownership, lambda: processor.skip(gap.start, gap.end))
            if commit is not None:
                self._metrics.records_missing.inc(commit.outcomes.missing)
            return commit is not None

    async def pass_over(self, ownership: PartitionOwnership, end: int) -> None:
        """Move over offsets without a record, at the end of what was read."""
        async with self.turn:
            ownership.check_not_over()
            processor = ownership.processor
            commit = processor.pass_over(end)
            await self._run(ownership, lambda: processor.persist(commit))
            ownership.applied_at = time()
            self._metrics.offsets_empty.inc(commit.outcomes.empty)

    async def choose_requests(self, ownership: PartitionOwnership) -> None:
        """Choose match requests of the next campaign with many systems beside the rating of batches, and emit them."""
        processor = ownership.processor
        async with self.turn:
            drafted, _ = await self._run(ownership, processor.requests.draft)
        if drafted is None:
            return
        chosen = await self._in_thread(drafted.choose, self._board_thread)
        async with self.turn:
            ownership.check_not_over()
            since = monotonic()
            change, outputs = processor.requests.open(chosen)
            if change is not None:
                await self._run(ownership, partial(processor.requests.persist, change))
            await self._emit_owned(outputs, ownership, processor, since=since)

    async def snapshot(self, ownership: PartitionOwnership) -> None:
        """Emit the leaderboards that changed, and remove idle campaigns from memory.

        The leaderboards are settled beside the rating of batches. That may take seconds.
        """
        processor = ownership.processor
        async with self.turn:
            names, _ = await self._run(ownership, lambda: processor.boards.find_due(monotonic()))
        while names:
            async with self.turn:
                since = monotonic()
                found, _ = await self._run(ownership, partial(processor.boards.draft, names))
                outputs, drafts, names = found
                await self._emit_owned(outputs, ownership, processor, since=since)
            boards = await self._in_thread(partial(_settle, drafts), self._board_thread)
            async with self.turn:
                since = monotonic()
                finish = partial(processor.boards.finish, boards, now=since)
                await self._emit_owned((await self._run(ownership, finish))[0], ownership, processor, since=since)
            self._metrics.snapshot_seconds.observe(sum(board.seconds for board in boards))
        async with self.turn:
            since = monotonic()
            last, _ = await self._run(ownership, lambda: processor.rest(since))
            await self._emit_owned(last, ownership, processor, since=since)

    async def repeat_after_late(self, ownership: PartitionOwnership) -> None:
        """Emit the present outputs of a partition again if a former owner has emitted older ones after them.

        Batches may be rated in between. Their outputs are newer.
        """
        processor, emitted = ownership.processor, 0
        async with self.turn:
            report, _ = await self._run(ownership, processor.late_report)
        if not report:
            return
        names = processor.campaign_names
        for first in range(0, len(names), REPEATED_AT_ONCE):
            async with self.turn:
                part, since = names[first : first + REPEATED_AT_ONCE], monotonic()
                outputs, _ = await self._run(ownership, partial(processor.boards.present_outputs, part))
                await self._emit_owned(outputs, ownership, processor, since=since)
                emitted += len(outputs)
        async with self.turn:
            await self._run(ownership, lambda: processor.clear_late(report))
        message = "%s: a former owner has emitted outputs late; %d present ones were emitted again"
        log.warning(message, ownership.partition, emitted, extra=ownership.log_fields())

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
            return (await self._run(ownership, read))[0]

    async def finish(self, ownership: PartitionOwnership, work: Callable[[], Sequence[Output]]) -> None:
        """Call a function that uses a processor and the store, and emit its outputs, for one who has the turn."""
        processor, since = ownership.processor, monotonic()
        outputs, _ = await self._run(ownership, work)
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
            await self._run(ownership, processor.check_owner)
        try:
            await self.emit(outputs, ownership)
        except Abandoned:
            await self._run(None, processor.confirm_emitted)  # the broker may have some of them
            raise
        await self._run(None, processor.confirm_emitted)

    async def _run(self, ownership: PartitionOwnership | None, work: Callable[[], Result]) -> tuple[Result, float]:
        """Call a function that uses the store, in the thread. Return its result and the seconds of the last attempt."""
        began = self._status.work_began_at = monotonic()
        try:
            return await self._retrying.run("Redis", StoreUnavailable, lambda: self._in_thread(work), ownership)
        finally:
            if self._status.work_began_at == began:  # no other work waits for the thread
                self._status.work_began_at = None

    def _in_thread(self, work: Callable[[], Result], thread: ThreadPoolExecutor | None = None) -> Awaitable[Result]:
        if self._closed:
            raise Abandoned
        return asyncio.get_running_loop().run_in_executor(thread or self._thread, work)


def _settle(drafts: Sequence[DraftedBoard]) -> list[FinishedBoard]:
    """Settle leaderboards. It needs no turn, because the drafts have copies of all that they need."""
    return [draft.settle() for draft in drafts]
