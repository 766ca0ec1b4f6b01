"""The one place that builds a consumer. Its methods raise BrokerUnavailable instead of aiokafka's errors.

Every consumer reads only what is committed. The markers of transactions and the records of aborted ones are passed
over, so offsets may have holes. Reading waits before a transaction that is open.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from streams.kafka.connection import answering, connection_options, consumer_group
from streams.kafka.partitions import Partition
from streams.kafka.raw_records import leave_records_raw
from streams.wire.topics import MAX_OUTPUT_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from datetime import datetime

    from streams.settings import Settings

TIMEOUT_MS = 10_000
# aiokafka's five minutes are long for a worker whose topic was deleted and created again meanwhile.
METADATA_MS = 10_000
# A worker gets to know with a heartbeat that the group rebalances. Until all workers know, none goes on.
HEARTBEAT_MS = 1000
# Of one partition, at once: a long backlog of one must not delay the others. A larger record comes alone.
TURN_BYTES = 2 * 1024 * 1024


class FetchedRecord(Protocol):
    """What a consumer returns for each record."""

    offset: int
    timestamp: int  # milliseconds of Unix time; negative if the producer sent none
    timestamp_type: int
    headers: Sequence[tuple[str, bytes]]
    key: bytes | None
    value: bytes | None


class RebalanceListener(Protocol):
    """What the owner of a consumer in a group does when its partitions change."""

    def on_assigned(self, partitions: Sequence[Partition]) -> None:
        """Begin to work on partitions. The group waits for the return."""

    async def on_revoked(self) -> None:
        """Finish the work on all partitions. The group waits for the return."""


class Consumer:
    """An aiokafka consumer that never commits by itself. `ends_of_all` is for one that only asks for the ends.

    With `raw_records`, records are returned as aiokafka's compiled code made them, which is faster.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        group: str | None = None,
        max_fetch_bytes: int = MAX_OUTPUT_BYTES,
        ends_of_all: bool = False,
        raw_records: bool = False,
        **options: Any,
    ) -> None:
        self._settings = settings
        self._raw_records = raw_records
        self._options = {
            "group_id": group,
            "max_partition_fetch_bytes": max_fetch_bytes,
            "isolation_level": "read_uncommitted" if ends_of_all else "read_committed",
            **options,
        }
        self._client: Any = None  # aiokafka builds one only where an event loop runs

    @classmethod
    def in_worker_group(cls, settings: Settings) -> Consumer:
        """Return a consumer that will share the log with the other workers. Call `join` next."""
        session = int(settings.session_timeout_seconds * 1000)
        return cls(
            settings,
            group=consumer_group(settings),
            max_fetch_bytes=TURN_BYTES,
            raw_records=True,
            session_timeout_ms=session,
            heartbeat_interval_ms=HEARTBEAT_MS,
            metadata_max_age_ms=METADATA_MS,
            # Partitions stay where they are, if they can. aiokafka joins the group once per assignor, and each time
            # the group begins to rebalance anew. With two of them, two workers could go on so without end.
            partition_assignment_strategy=(_sticky_assignor(),),
        )

    async def start(self) -> None:
        """Connect. If that fails or is cancelled, nothing is left open."""
        self._client = self._build()
        try:
            await self._connect()
        except BaseException:
            await self.stop()
            raise

    async def join(self, topic: str, listener: RebalanceListener) -> None:
        """Connect and join the group. The listener is called before this returns, and at each rebalance."""
        self._client = self._build()
        self._client.subscribe([topic], listener=_ListenerAdapter(listener))
        await self._connect()

    async def _connect(self) -> None:
        with answering(self._settings):
            await self._client.start()
        if self._raw_records:
            leave_records_raw(self._client)

    def _build(self) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            **connection_options(self._settings),
            enable_auto_commit=False,
            # If the beginning is deleted while it is read, the reading continues at the new beginning.
            auto_offset_reset="earliest",
            **self._options,
        )

    async def stop(self) -> None:
        """Leave the group and disconnect, whether the broker answers or not."""
        if self._client is not None:
            with suppress(asyncio.CancelledError):  # aiokafka lets those of its own tasks out when the broker is away
                await self._client.stop()

    def assign(self, partitions: Iterable[Partition]) -> None:
        """Choose the partitions to read."""
        with answering(self._settings):
            self._client.assign(list(partitions))

    def seek(self, partition: Partition, offset: int) -> None:
        """Read this partition next from an offset."""
        with answering(self._settings):
            self._client.seek(partition, offset)

    async def fetch(
        self, *partitions: Partition, timeout_ms: int, max_records: int | None = None
    ) -> dict[Partition, Sequence[FetchedRecord]]:
        """Return the next records of these partitions, or of all assigned ones. Empty if none came in time."""
        with answering(self._settings):
            fetched = await self._client.getmany(*partitions, timeout_ms=timeout_ms, max_records=max_records)
        return {Partition(*source): records for source, records in fetched.items()}

    async def position(self, partition: Partition) -> int:
        """Return the offset that is read next."""
        with answering(self._settings):
            offset: int = await self._client.position(partition)
        return offset

    async def beginning_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset of the first record that the broker still has, per partition."""
        with answering(self._settings):
            return _ours(await self._client.beginning_offsets(list(partitions)))

    async def end_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset up to which each partition can be read. A transaction that is open is after it."""
        with answering(self._settings):
            return _ours(await self._client.end_offsets(list(partitions)))

    async def offsets_since(self, partitions: Iterable[Partition], moment: datetime) -> dict[Partition, int | None]:
        """Return the offset of the first record at or after a time, per partition; None if there is none."""
        milliseconds = max(0, int(moment.timestamp() * 1000))  # a negative one means something else to Kafka
        with answering(self._settings):
            found = await self._client.offsets_for_times(dict.fromkeys(partitions, milliseconds))
        return {partition: None if at is None else at.offset for partition, at in _ours(found).items()}

    def known_end(self, partition: Partition) -> int | None:
        """Return the end that the last fetch saw, or None if the partition is not assigned or was not fetched.

        Records of transactions that are open are before it: they wait, and count as lag.
        """
        end: int | None = self._client.highwater(partition) if partition in self._client.assignment() else None
        return end

    async def committed(self, partition: Partition) -> int:
        """Return the offset that the group has committed; 0 if it has committed none."""
        with answering(self._settings):
            return await self._client.committed(partition) or 0

    async def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Commit offsets for the group."""
        with answering(self._settings):
            await self._client.commit(dict(offsets))


@asynccontextmanager
async def open_consumer(
    settings: Settings, partitions: Iterable[Partition], *, timeout_ms: int = TIMEOUT_MS, ends_of_all: bool = False
) -> AsyncIterator[Consumer]:
    """Connect a consumer without a group, and disconnect it at the end."""
    consumer = Consumer(settings, ends_of_all=ends_of_all, request_timeout_ms=timeout_ms)
    await consumer.start()
    try:
        consumer.assign(partitions)
        yield consumer
    finally:
        await consumer.stop()


class _ListenerAdapter(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """Calls a RebalanceListener. With aiokafka's assignors each rebalance first revokes all partitions."""

    def __init__(self, listener: RebalanceListener) -> None:
        self._listener = listener

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        if revoked:
            await self._listener.on_revoked()

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._listener.on_assigned([Partition(*source) for source in assigned])


def _sticky_assignor() -> type[StickyPartitionAssignor]:
    """Return an assignor of its own for one consumer: aiokafka keeps what it has assigned in the class."""
    return type("StickyAssignor", (StickyPartitionAssignor,), {})


def _ours(found: Mapping[TopicPartition, Any]) -> dict[Partition, Any]:
    return {Partition(*source): value for source, value in found.items()}
