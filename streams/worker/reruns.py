"""Campaigns are rated again in the background, after a retraction or because their stored state is corrupt.

The log is read with a consumer of its own, and rated in a thread of its own. Every few seconds the result is staged
beside the live state, so that the next owner of the partition goes on from there. Only the last step has the rater's
turn: the rest of the log is read, and the campaign is swapped in between two batches.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from mode import Service

from streams.errors import BrokerUnavailable, HistoryGone, StoreUnavailable
from streams.kafka.consumers import Consumer
from streams.kafka.records import raw_records
from streams.pipeline.faults import is_campaign_fault
from streams.wire.topics import MAX_LOG_BYTES
from streams.worker.ownership import Abandoned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streams.pipeline.campaign_rerun import CampaignRerun
    from streams.pipeline.record import Record
    from streams.settings import Settings
    from streams.wire.outputs import Output
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.rater import Rater
    from streams.worker.source import BatchSource
    from streams.worker.status import WorkerStatus

log = logging.getLogger(__name__)

Result = TypeVar("Result")

SEARCH_SECONDS = 0.5  # between two searches for campaigns that wait
RETRY_SECONDS = 1.0  # after a server did not answer
FETCH_MS = 500
TIMEOUT_MS = 10_000
STEP_RECORDS = 5_000
STAGE_SECONDS = 2.0
STAGE_RECORDS = 100_000
# The rest of the log that may be read while no batch is rated.
LAST_RECORDS = 10_000
LAST_SECONDS = 2.0


class Reruns(Service):
    """Rates the campaigns again that wait for it, one partition after the other."""

    mundane_level = "debug"

    def __init__(self, settings: Settings, source: BatchSource, rater: Rater, status: WorkerStatus) -> None:
        super().__init__()
        self._settings = settings
        self._source = source
        self._rater = rater
        self._status = status
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rerun")

    async def on_stop(self) -> None:
        """Release the thread. The step in hand ends soon, and the task is cancelled."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    @Service.task
    async def _find_waiting(self) -> None:
        while not self.should_stop:
            for ownership in self._source.open_ownerships():
                if ownership.is_open and ownership.processor.reruns.waiting():
                    await self._rate_again_guarded(ownership)
            await self.sleep(SEARCH_SECONDS)

    async def _rate_again_guarded(self, ownership: PartitionOwnership) -> None:
        try:
            await self._rate_again(ownership)
        except asyncio.CancelledError:
            raise  # the worker stops; a batch in hand may still end
        except BaseException as error:  # noqa: BLE001 - the ownership decides what it means
            await self._source.guard(ownership, _raise(error))

    async def _rate_again(self, ownership: PartitionOwnership) -> None:
        """Rate the waiting campaigns of a partition again. If a server is away, it is tried again later."""
        consumer = Consumer(self._settings, max_fetch_bytes=MAX_LOG_BYTES, request_timeout_ms=TIMEOUT_MS)
        try:
            await consumer.start()
            consumer.assign([ownership.partition])
            await _Pass(ownership, consumer, self._rater, self._thread, self._status).run()
        except (BrokerUnavailable, StoreUnavailable) as error:
            log.warning("%s; rating again goes on when it answers", error, extra=ownership.log_fields())
            await self.sleep(RETRY_SECONDS)
        finally:
            self._status.rerun_progress = {}
            await consumer.stop()


async def _raise(error: BaseException) -> None:
    raise error


class _Pass:
    """One reading of a partition's log, for all of its campaigns that wait."""

    def __init__(
        self,
        ownership: PartitionOwnership,
        consumer: Consumer,
        rater: Rater,
        thread: ThreadPoolExecutor,
        status: WorkerStatus,
    ) -> None:
        self._ownership = ownership
        self._consumer = consumer
        self._rater = rater
        self._thread = thread
        self._status = status
        self._partition = ownership.partition
        self._processor = ownership.processor
        self._reruns: list[CampaignRerun] = []
        self._failed: dict[str, Exception] = {}
        self._position = 0  # in the log
        self._staged_at, self._staged_position = monotonic(), 0

    async def run(self) -> None:
        """Rate campaigns again until they are swapped in, or the partition is revoked."""
        await self._call(self._begin)
        while self._reruns:
            await self._start_reading()
            while self._reruns and self._position < self._find_end() - LAST_RECORDS:
                await self._step()
                await self._drop_deleted()
                await self._fail_all()
                await self._stage_sometimes()
            await self._finish()
        await self._fail_all()

    def _begin(self) -> None:
        until = self._processor.persisted_offset
        for name in self._processor.reruns.waiting():
            with self._failing(name):
                self._reruns.append(self._processor.reruns.begin(name, until=until))

    async def _start_reading(self) -> None:
        self._position = min(rerun.next_offset for rerun in self._reruns)
        self._staged_at, self._staged_position = monotonic(), self._position
        self._consumer.seek(self._partition, self._position)
        await self._check_beginning()
        names = ", ".join(rerun.name for rerun in self._reruns)
        fields = self._ownership.log_fields()
        log.info("rating again from offset %d of %s: %s", self._position, self._partition, names, extra=fields)

    async def _check_beginning(self) -> None:
        beginning = (await self._consumer.beginning_offsets([self._partition]))[self._partition]
        if beginning > 0:
            message = f"{self._partition} begins at offset {beginning}: the records before it are gone"
            self._failed |= {rerun.name: HistoryGone(message) for rerun in self._reruns}
            self._reruns = []

    def _find_end(self) -> int:
        """Return the offset up to which the partition, or one of these campaigns, has read the log."""
        reruns, until = self._processor.reruns, self._processor.persisted_offset
        return max((reruns.end(rerun.name, until) for rerun in self._reruns), default=until)

    async def _step(self) -> None:
        """Read and apply the next records, as far as the partition is processed."""
        target = self._find_end()
        fetched = await self._consumer.fetch(self._partition, timeout_ms=FETCH_MS, max_records=STEP_RECORDS)
        found = fetched.get(self._partition, ())
        records = raw_records(each for each in found if each.offset < target)
        position = await self._consumer.position(self._partition)
        if min(position, *(record.offset for record in records[:1])) > self._position:
            await self._check_beginning()  # a hole may be records that are gone
        if position > target:
            self._consumer.seek(self._partition, target)
        self._position = min(position, target)
        outputs = await self._call(lambda: self._apply(records))
        await self._rater.emit(outputs, self._ownership)
        share = self._position / max(target, 1)
        self._status.rerun_progress = {rerun.name: share for rerun in self._reruns}

    def _apply(self, records: Sequence[Record]) -> list[Output]:
        rejections: list[Output] = []
        for rerun in self._reruns:
            with self._failing(rerun.name):
                rejections += rerun.apply(records)
                rerun.skip_to(self._position)
        return rejections

    async def _stage_sometimes(self) -> None:
        """Write what is rated so far beside the live state."""
        if monotonic() - self._staged_at > STAGE_SECONDS or self._position - self._staged_position > STAGE_RECORDS:
            await self._call(self._stage)
            self._staged_at, self._staged_position = monotonic(), self._position

    def _stage(self) -> None:
        for rerun in self._reruns:
            with self._failing(rerun.name):
                if not rerun.is_outdated and self._processor.reruns.is_needed(rerun):
                    self._processor.reruns.stage(rerun)

    async def _drop_deleted(self) -> None:
        """End the reruns of campaigns that were deleted meanwhile."""
        for rerun in [each for each in self._reruns if not self._processor.reruns.is_needed(each)]:
            self._reruns.remove(rerun)
            await self._call(partial(self._processor.reruns.drop, rerun))

    async def _finish(self) -> None:
        """Read the rest while no batch is rated, and swap the campaigns in. Those that are outdated begin again."""
        async with self._rater.turn:
            await self._drop_deleted()
            deadline = monotonic() + LAST_SECONDS
            while self._reruns and self._position < self._find_end():
                if monotonic() > deadline:
                    return
                await self._step()
            outdated = [rerun for rerun in self._reruns if rerun.begin_again_if_outdated()]
            for rerun in self._reruns:
                if rerun not in outdated and rerun.name not in self._failed:
                    await self._rater.finish(self._ownership, partial(self._finish_one, rerun))
            self._reruns = outdated
        await self._fail_all()

    def _finish_one(self, rerun: CampaignRerun) -> tuple[Output, ...]:
        with self._failing(rerun.name):
            return self._processor.reruns.finish(rerun, ())
        return ()

    async def _fail_all(self) -> None:
        """Leave campaigns in quarantine whose rerun has failed. The others go on."""
        while self._failed:
            name, error = self._failed.popitem()
            async with self._rater.turn:
                await self._rater.finish(self._ownership, partial(self._processor.reruns.fail, name, error))

    @contextmanager
    def _failing(self, name: str) -> Iterator[None]:
        """Catch a fault in the code of one campaign: it ends its rerun, and no other."""
        try:
            yield
        except Exception as error:
            if not is_campaign_fault(error):
                raise
            self._failed[name] = error
            self._reruns = [rerun for rerun in self._reruns if rerun.name != name]

    async def _call(self, work: Callable[[], Result]) -> Result:
        """Call a function in the thread of the reruns. Raise Abandoned if the partition is not this worker's now."""
        if not self._ownership.is_open:
            raise Abandoned
        result = await asyncio.get_running_loop().run_in_executor(self._thread, work)
        if not self._ownership.is_open:
            raise Abandoned
        return result
