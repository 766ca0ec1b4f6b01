"""The source: a consumer of its own that hands whole batches of one partition to the rating agent.

The commit order, for each partition:

1. On assignment a new epoch is taken from the store, which fences the former owner off.
2. The state is loaded, and what may not have been emitted is emitted again.
3. The log is looked at: the last record that the store knows must stand where it stood. The consumer seeks to the
   offset that the store holds: the store decides, not the group's committed offset.
4. A batch is rated and persisted atomically together with its offset.
5. Its outputs are emitted.
6. The offset is committed to Kafka, for those who watch the lag.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from time import monotonic, time
from typing import TYPE_CHECKING

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.errors import KafkaError
from mode import Service

from streams.errors import BrokerUnavailable, Conflict, Fenced, StoreCorrupt, TooManyRejections, WrongLog
from streams.kafka.connection import connection_options, consumer_group
from streams.kafka.partitioned_log import read_before
from streams.metrics import PartitionProgress
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record, record_fingerprint
from streams.wire import topics
from streams.worker.rater import Abandoned, Batch, Tenure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Iterator

    from faust.types import ChannelT

    from streams.metrics import WorkerMetrics
    from streams.settings import Settings
    from streams.stores import Store
    from streams.worker.rater import Rater
    from streams.worker.status import Status

log = logging.getLogger(__name__)

COMMIT_SECONDS = 1.0
PROBE_MS = 5000
# aiokafka's five minutes are long for a worker whose topic was made anew meanwhile.
METADATA_MS = 10_000
MOMENTS = 2
# How long a batch in hand may take to end when its partition is taken away or the worker stops.
GRACE_SECONDS = 4.0


class BatchSource(Service):
    """Owns the consumer of the log and the processors of the partitions assigned to it."""

    mundane_level = "debug"

    def __init__(
        self,
        settings: Settings,
        store: Store,
        rater: Rater,
        channel: ChannelT[Batch],
        status: Status,
        metrics: WorkerMetrics,
    ) -> None:
        super().__init__()
        self._status = status
        self._metrics = metrics
        self._tenures: dict[TopicPartition, Tenure] = {}
        self._settings = settings
        self._store = store
        self._options = ProcessorOptions.from_settings(settings)
        self._rater = rater
        self._channel = channel
        self._topic = topics.JUDGMENTS.within(settings.namespace)
        self._in_hand: set[Batch] = set()
        self._opening: dict[Tenure, asyncio.Task[None]] = {}
        self._committed: dict[TopicPartition, int] = {}

    async def on_start(self) -> None:
        """Join the group."""
        session = int(self._settings.session_timeout_seconds * 1000)
        self._consumer = AIOKafkaConsumer(
            **connection_options(self._settings),
            group_id=consumer_group(self._settings),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=session,
            heartbeat_interval_ms=session // 3,
            metadata_max_age_ms=METADATA_MS,
            max_partition_fetch_bytes=topics.MAX_LOG_BYTES,
        )
        self._consumer.subscribe([self._topic], listener=_Listener(self))
        await self._consumer.start()

    async def on_stop(self) -> None:
        """Let the batch in hand end, then leave the group."""
        await self.end()
        with suppress(asyncio.CancelledError):  # of aiokafka's own tasks, when the broker is away
            await self._consumer.stop()
        self._rater.close()

    async def rate(self, batch: Batch) -> None:
        """Walk a batch, for the rating agent."""
        try:
            if not batch.tenure.closing:
                await self._within(batch.tenure, self._rater.walk(batch))
        finally:
            self._in_hand.discard(batch)
            batch.done.set()

    async def _within(self, tenure: Tenure, work: Awaitable[None]) -> bool:
        """Do work of a tenure and say whether it was done; no error leaves, or Faust would drop the batch and go on."""
        try:
            await work
        except Abandoned:
            return False
        except Fenced as error:
            self._metrics.fenced_writes.inc()
            log.warning("%s; this worker writes no more to it", error, extra=_of(tenure))
            tenure.closing = tenure.over = True
            self.add_future(self._recover(tenure))
            return False
        except (Conflict, BrokerUnavailable) as error:
            log.warning("%s; loading the state again", error, extra=_of(tenure))
            self._metrics.reloads.inc()
            self._reopen(tenure)
            return False
        except asyncio.CancelledError:
            tenure.closing = tenure.over = True
            raise
        except (TooManyRejections, WrongLog, StoreCorrupt) as error:
            tenure.closing = tenure.over = True
            self._status.fail(error)
            return False
        except BaseException as error:  # noqa: BLE001 - the worker stops with it
            tenure.closing = tenure.over = True  # nothing behind a batch that failed may be applied
            await self.crash(error)
            return False
        return True

    async def snapshot(self) -> None:
        """Emit the leaderboards that changed."""
        for tenure in list(self._tenures.values()):
            if tenure.opened and not tenure.closing:
                with suppress(Abandoned):
                    await self._rater.snapshot(tenure)

    @Service.task
    async def _pump(self) -> None:
        """Read each open partition in turn; the channel's bound holds the reading back when rating is behind."""
        while not self.should_stop:
            self._tell()
            idle = True
            for partition, tenure in list(self._tenures.items()):
                if not tenure.opened or tenure.closing:
                    continue
                fetched = await self._consumer.getmany(
                    partition, timeout_ms=0, max_records=self._settings.batch_records
                )
                records = [Record(record.offset, record.key, record.value) for record in fetched.get(partition, ())]
                if records and not tenure.closing:
                    if records[0].offset < tenure.reading:
                        self._status.fail(self._wrong_log(partition, f"it goes on at offset {records[0].offset}"))
                        return
                    idle = False
                    written = fetched[partition][0].timestamp
                    batch = Batch(tenure, tenure.reading, records, at=written / 1000 if written > 0 else None)
                    tenure.reading = records[-1].offset + 1
                    self._in_hand.add(batch)
                    await self._channel.put(batch)  # type: ignore[arg-type]  # any value goes
            if idle:
                await self.sleep(self._settings.batch_seconds)

    def progress(self) -> Iterator[PartitionProgress]:
        """Say where this worker stands in each partition that it holds."""
        for partition, tenure in self._tenures.items():
            if tenure.opened and not tenure.over:
                held = partition in self._consumer.assignment()
                # The broker is asked every few seconds; what was fetched meanwhile may tell of a later end.
                ends = (tenure.end, self._consumer.highwater(partition) if held else None)
                end = max((each for each in ends if each is not None), default=None)
                yield PartitionProgress(partition.partition, tenure.processor.persisted_offset, tenure.applied_at, end)

    def campaigns(self) -> int:
        """Count the campaigns in memory."""
        return sum(len(tenure.processor.campaigns) for tenure in self._tenures.values() if tenure.opened)

    def _tell(self) -> None:
        """Tell those who ask how the worker does."""
        self._status.beat = monotonic()
        self._status.assigned = len(self._tenures)
        self._status.open = sum(tenure.opened and not tenure.over for tenure in self._tenures.values())

    @Service.timer(PROBE_MS / 1000)
    async def _probe(self) -> None:
        """Ask the servers something, because a consumer that gets nothing does not say why."""
        tenures = {partition: tenure for partition, tenure in self._tenures.items() if tenure.opened}
        ends: dict[TopicPartition, int] = {}
        try:
            ends = await asyncio.wait_for(self._consumer.end_offsets(list(tenures)), PROBE_MS / 1000)
        except (KafkaError, TimeoutError) as error:
            why = str(error) or f"no answer in {PROBE_MS / 1000:.0f} s"
            log.warning("Kafka does not answer: %s; waiting, nothing is lost", why, extra={"server": "kafka"})
            self._status.wait_for("Kafka", why)
            self._metrics.failed("kafka")
        else:
            self._status.answers("Kafka")
        for partition, tenure in tenures.items():
            tenure.end = ends.get(partition, tenure.end)
            await self._within(tenure, self._look_at(partition, tenure, ends.get(partition)))

    async def _look_at(self, partition: TopicPartition, tenure: Tenure, end: int | None) -> None:
        """See that the log and the store are where this worker left them; a busy one would notice by itself."""
        persisted = tenure.processor.persisted_offset
        if tenure.quiet_since == persisted and not tenure.closing:
            if end is not None:
                self._reaches(partition, tenure, end)
            await self._rater.verify(tenure)
        tenure.quiet_since = persisted

    @Service.timer(COMMIT_SECONDS)
    async def _commit_regularly(self) -> None:
        await self._commit()

    async def _commit(self) -> None:
        offsets = {
            partition: tenure.processor.persisted_offset
            for partition, tenure in self._tenures.items()
            if tenure.opened and not tenure.over and tenure.processor.persisted_offset != self._committed.get(partition)
        }
        if not offsets:
            return
        try:
            await self._consumer.commit(offsets)
            self._committed.update(offsets)
        except KafkaError as error:
            log.info("the offsets were not committed: %s; the store has them", error, extra={"server": "kafka"})
            self._metrics.failed("kafka")

    def given(self, partitions: Iterable[TopicPartition]) -> None:
        """Take over what the group gives after a rebalance."""
        self._metrics.rebalances.inc()
        self.begin(partitions)

    def begin(self, partitions: Iterable[TopicPartition]) -> None:
        """Take partitions over, each in a task of its own, so that the rebalance does not wait for the store."""
        self._status.joined = True
        for partition in partitions:
            open_processor = partial(
                Processor.open,
                self._topic,
                partition.partition,
                self._store,
                self._options,
                read_before=partial(read_before, self._settings, partition.partition),
            )
            tenure = self._tenures[partition] = Tenure(partition.topic, partition.partition, open_processor)
            self._opening[tenure] = asyncio.create_task(self._open(partition, tenure))

    async def end(self) -> None:
        """Give all partitions up: the batch in hand may end, what waits behind it stays in the log."""
        tenures = list(self._tenures.values())
        for tenure in tenures:
            tenure.closing = True
            tenure.over = not tenure.opened
        waiting = [*(batch.done.wait() for batch in self._in_hand), *self._opening.values()]
        try:
            await asyncio.wait_for(asyncio.gather(*waiting), GRACE_SECONDS)
        except TimeoutError:
            log.warning("the batch in hand did not end in %.0f s; it will be read again", GRACE_SECONDS)
        await self._commit()
        for tenure in tenures:
            tenure.over = True
        self._tenures.clear()
        self._committed.clear()

    async def _open(self, partition: TopicPartition, tenure: Tenure) -> None:
        """Take a partition over; only then is it read."""
        try:
            done = await self._within(tenure, self._take_over(partition, tenure))
        finally:
            del self._opening[tenure]
        if done and self._tenures.get(partition) is tenure and not tenure.closing:
            tenure.reading = tenure.processor.next_offset
            self._consumer.seek(partition, tenure.reading)
            tenure.opened, tenure.applied_at = True, time()
            log.info("%s/%d is open at offset %d", *partition, tenure.reading, extra=_of(tenure))

    async def _take_over(self, partition: TopicPartition, tenure: Tenure) -> None:
        await self._rater.open(tenure)
        while not tenure.closing and not await self._is_known(partition, tenure):
            await self.sleep(COMMIT_SECONDS)

    async def _is_known(self, partition: TopicPartition, tenure: Tenure) -> bool:
        """Find the last record that the store knows in the log again; False if the broker does not say so now."""
        consumer, processor, after = self._consumer, tenure.processor, tenure.processor.next_offset
        try:
            begin = (await consumer.beginning_offsets([partition]))[partition]
            end = tenure.end = (await consumer.end_offsets([partition]))[partition]
            if begin > after == 0:
                log.warning(
                    "%s/%d begins at offset %d: what stood before is gone, and not in the state",
                    *partition,
                    begin,
                    extra=_of(tenure),
                )
            elif begin > after:
                raise self._wrong_log(partition, f"it begins at offset {begin}, and the state ends at {after}")
            if not self._reaches(partition, tenure, end):
                return False
            last = int(processor.last_record_fingerprint.partition(":")[0] or -1)
            if last < begin:
                return True  # there is no such record, or it is gone by now
            consumer.seek(partition, last)
            found = (await consumer.getmany(partition, timeout_ms=PROBE_MS, max_records=1)).get(partition)
        except KafkaError as error:
            log.warning("Kafka does not show %s/%d: %s; waiting, nothing is lost", *partition, error, extra=_of(tenure))
            self._metrics.failed("kafka")
            return False
        if not found:
            return False
        record = Record(found[0].offset, found[0].key, found[0].value)
        if record.offset <= last and record_fingerprint(record) != processor.last_record_fingerprint:
            raise self._wrong_log(partition, f"another record stands at offset {record.offset}")
        return True

    def _reaches(self, partition: TopicPartition, tenure: Tenure, end: int) -> bool:
        """See that the log does not end before the state; a broker that has just started may say so for a moment."""
        after = tenure.processor.persisted_offset
        tenure.short = 0 if end >= after else tenure.short + 1
        if tenure.short > MOMENTS:
            raise self._wrong_log(partition, f"it ends at offset {end}, and the state at {after}")
        return not tenure.short

    def _wrong_log(self, partition: TopicPartition, why: str) -> WrongLog:
        return WrongLog(
            f"{partition.topic}/{partition.partition} is not the log that the state in Redis was made from: {why}. "
            "Was the topic deleted and made anew? Bring the old one back, or give the new one a namespace of its own; "
            "or, to let the old state go, delete the keys of this namespace in Redis: what the log holds is rated then"
        )

    async def _recover(self, tenure: Tenure) -> None:
        """Take a partition back that the group, after a session's time, still gives to this worker."""
        await self.sleep(self._settings.session_timeout_seconds)
        self._reopen(tenure)

    def _reopen(self, tenure: Tenure) -> None:
        tenure.closing = tenure.over = True
        self.begin([partition for partition, held in self._tenures.items() if held is tenure])


def _of(tenure: Tenure) -> dict[str, object]:
    """Name a tenure's partition and its offset as fields of a line."""
    offset = tenure.processor.persisted_offset if tenure.opened else None
    return {"topic": tenure.topic, "partition": tenure.partition, "offset": offset}


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """Tells the source; with aiokafka's assignors every rebalance first revokes all that this worker has."""

    def __init__(self, source: BatchSource) -> None:
        self._source = source

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        if revoked:
            await self._source.end()

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._source.given(assigned)
