"""The partitions that the group assigns to a worker: they are opened, guarded against errors, and released."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from streams.errors import (
    BrokerUnavailable,
    Conflict,
    Fenced,
    LogGap,
    StoreCorrupt,
    StoreNewer,
    TooManyUndecodable,
    WrongLog,
)
from streams.kafka.copies import find_copies
from streams.kafka.partitioned_log import read_log
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.worker.ownership import Abandoned, PartitionOwnership

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Iterable

    from mode import Service

    from streams.errors import JudgestreamError
    from streams.kafka.inspecting import LogInspector
    from streams.kafka.partitions import Partition
    from streams.metrics import WorkerMetrics
    from streams.pipeline.routing import Copies
    from streams.settings import Settings
    from streams.stores import Store
    from streams.worker.batches import PartitionBatch
    from streams.worker.rater import Rater
    from streams.worker.status import WorkerStatus

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
# How often a stopped partition is looked at again. A revoked one must be given up sooner than the group gets impatient.
LOOK_SECONDS = 2.0
# What stops one partition until its cause is gone or an operator has decided. The others go on.
STOPPING = (LogGap, StoreCorrupt, StoreNewer, WrongLog)


class Assignment:
    """The ownerships of a worker, by partition. `service` runs the tasks and stops if one of them fails."""

    def __init__(
        self,
        service: Service,
        settings: Settings,
        store: Store,
        inspector: LogInspector,
        rater: Rater,
        status: WorkerStatus,
        metrics: WorkerMetrics,
    ) -> None:
        self.owned: dict[Partition, PartitionOwnership] = {}
        self._service = service
        self._settings = settings
        self._options = ProcessorOptions.from_settings(settings)
        self._store = store
        self._inspector = inspector
        self._rater = rater
        self._status = status
        self._metrics = metrics
        self._topic_id = ""  # before the partitions that are open were compared with the log
        self._finding_copies: asyncio.Task[Copies] | None = None
        self._opening: dict[PartitionOwnership, asyncio.Task[None]] = {}

    def open(self, partitions: Iterable[Partition]) -> None:
        """Open partitions, each in a task of its own, so that the rebalance does not wait for the store."""
        for partition in partitions:
            ownership = self.owned[partition] = PartitionOwnership(partition)
            self._opening[ownership] = asyncio.create_task(self._open_guarded(ownership))

    def close(self, partitions: Collection[Partition]) -> list[asyncio.Task[None]]:
        """Begin no more batch of partitions. Return the tasks that still open some of them: they end soon."""
        for partition in partitions:
            if partition in self.owned:
                self.owned[partition].close()
        return [task for ownership, task in self._opening.items() if ownership.partition in partitions]

    def end(self, partitions: Iterable[Partition]) -> None:
        """Release partitions."""
        for partition in partitions:
            if ownership := self.owned.pop(partition, None):
                ownership.end()
            self._status.stopped.pop(str(partition), None)

    async def rate(self, batch: PartitionBatch) -> None:
        """Rate a batch that follows on what is applied. The batches before it have ended."""
        identity, hole = batch.ownership.log, batch.hole
        if batch.records.offsets[0] < batch.start:
            raise identity.wrong_log(f"it goes on at offset {batch.records.offsets[0]}")
        if hole is not None:
            try:
                await identity.check_reachable(self._inspector, hole)
            except LogGap:
                # What lies before the gap may be gone from the log by now, so it is rated.
                if records := batch.records.before(hole):
                    await self._rater.rate(replace(batch, records=records))
                raise
        await self._rater.rate(batch)

    async def pass_over_empty(self, ownership: PartitionOwnership, *, end: int) -> None:
        """Count the offsets at the end of the log that have no record. Otherwise they would look like lag for ever."""
        expected = ownership.read_offset
        if expected != ownership.processor.persisted_offset:
            return  # a batch is on its way
        found, position = await self._inspector.find_record(ownership.partition, expected, end=end)
        if found is None and position > expected:
            await ownership.log.check_reachable(self._inspector, expected)
            if ownership.is_open and ownership.read_offset == expected:  # no batch has come meanwhile
                ownership.read_offset = position
                await self._rater.pass_over(ownership, position)

    async def check_topic(self, topic: str) -> None:
        """Open all partitions again if the topic was created anew. Each then compares the log with its state."""
        known, self._topic_id = self._topic_id, await self._find_topic_id(topic)
        if known != self._topic_id:
            for ownership in tuple(self.owned.values()):
                if ownership.is_open:
                    await self.fail(ownership, Conflict(f"{topic} was deleted and created again"))

    async def fail(self, ownership: PartitionOwnership, error: Exception) -> None:
        """Decide what an error means for a partition."""
        await self.guard(ownership, _raise(error))

    async def guard(self, ownership: PartitionOwnership, work: Awaitable[None]) -> None:
        """Do work on a partition. No error leaves: Faust would drop the batch and go on."""
        try:
            await work
        except Abandoned:
            return
        except Fenced as error:
            self._metrics.fenced_writes.inc()
            log.warning("%s; this worker writes no more to it", error, extra=ownership.log_fields())
            ownership.end()
            # The group may have given the partition to another worker, and this one does not know it yet.
            self._service.add_future(self._reopen_later(ownership, self._settings.session_timeout_seconds))
        except (Conflict, BrokerUnavailable) as error:
            log.warning("%s; loading the state again", error, extra=ownership.log_fields())
            self._metrics.reloads.inc()
            self._reopen(ownership)
        except asyncio.CancelledError:
            ownership.end()
            raise
        except STOPPING as error:
            self._stop(ownership, error)
            ownership.end()
            self._service.add_future(self._reopen_later(ownership, LOOK_SECONDS))
        except TooManyUndecodable as error:
            # Only a restart with another limit helps. Until then nothing is read, and the lag is shown.
            self._stop(ownership, error)
            ownership.close()
        except BaseException as error:  # noqa: BLE001 - the worker stops with it
            ownership.end()  # nothing after a batch that failed may be applied
            await self._service.crash(error)

    async def _open_guarded(self, ownership: PartitionOwnership) -> None:
        try:
            await self.guard(ownership, self._open(ownership))
        finally:
            del self._opening[ownership]

    async def _open(self, ownership: PartitionOwnership) -> None:
        """Load the state of a partition, compare the log with it, and begin to read there."""
        partition = ownership.partition
        past = partial(read_log, self._settings, partition.number)
        open_processor = partial(
            Processor.open, partition.topic, partition.number, self._store, self._options, read_log=past
        )
        processor = await self._rater.open(ownership, open_processor)
        is_new_or_lost = processor.next_offset == 0
        ownership.load(processor)
        self._topic_id = self._topic_id or await self._find_topic_id(partition.topic)
        while ownership.is_opening and not await self._is_confirmed(ownership, processor):
            await self._service.sleep(LOOK_SECONDS if str(partition) in self._status.stopped else RETRY_SECONDS)
            await self._rater.verify(ownership, processor)
        while ownership.is_opening and is_new_or_lost and ownership.log.end:
            try:
                processor.recall_copies(await self._find_copies())
                break
            except BrokerUnavailable as error:
                log.warning("%s; waiting, nothing is lost", error, extra=ownership.log_fields())
                await self._service.sleep(RETRY_SECONDS)
        if ownership.is_opening:
            ownership.open(processor)
            went_on = self._status.stopped.pop(str(partition), None) is not None
            state = "goes on" if went_on else "is open"
            log.info("%s %s at offset %d", partition, state, ownership.read_offset, extra=ownership.log_fields())

    async def _find_topic_id(self, topic: str) -> str:
        while True:
            try:
                return await self._inspector.find_topic_id(topic)
            except BrokerUnavailable as error:
                log.warning("%s; waiting, nothing is lost", error, extra={"server": "kafka"})
                self._metrics.count_error("Kafka")
                await self._service.sleep(RETRY_SECONDS)

    async def _find_copies(self) -> Copies:
        """Read the log for records that were forwarded. Partitions that open at the same time share the reading."""
        if self._finding_copies is None or self._finding_copies.done():
            self._finding_copies = asyncio.create_task(asyncio.to_thread(find_copies, self._settings))
        return await asyncio.shield(self._finding_copies)

    async def _is_confirmed(self, ownership: PartitionOwnership, processor: Processor) -> bool:
        try:
            return await ownership.log.is_confirmed(
                self._inspector, offset=processor.next_offset, fingerprint=processor.last_record_fingerprint
            )
        except BrokerUnavailable as error:
            log.warning("%s; waiting, nothing is lost", error, extra=ownership.log_fields())
            self._metrics.count_error("Kafka")
        except LogGap as gap:
            if await self._rater.skip(ownership, processor, gap):
                fields = ownership.log_fields() | {"offset": gap.end}
                message = "%s: an operator has accepted that %d records are missing, those from offset %d to %d"
                log.warning(message, ownership.partition, gap.end - gap.start, gap.start, gap.end - 1, extra=fields)
            else:
                self._stop(ownership, gap)
        except WrongLog as error:
            self._stop(ownership, error)
        return False

    def _stop(self, ownership: PartitionOwnership, error: JudgestreamError) -> None:
        """Report that a partition is stopped. The worker looks again at intervals, and logs it once."""
        name, problem = str(ownership.partition), str(error)
        if self.owned.get(ownership.partition) is not ownership or self._status.stopped.get(name) == problem:
            return
        self._status.stopped[name] = problem
        log.error("%s is stopped, the other partitions go on: %s", name, problem, extra=ownership.log_fields())

    def _reopen(self, ownership: PartitionOwnership) -> None:
        """Load the state again, if the partition is still assigned to this worker."""
        ownership.end()
        if self.owned.get(ownership.partition) is ownership:
            self.open([ownership.partition])

    async def _reopen_later(self, ownership: PartitionOwnership, seconds: float) -> None:
        """Take a partition back if the group still assigns it to this worker after some time."""
        await self._service.sleep(seconds)
        self._reopen(ownership)


async def _raise(error: Exception) -> None:
    raise error
