"""The one place that builds an aiokafka consumer. Its methods raise BrokerUnavailable instead of aiokafka's errors.

Every consumer reads only what is committed. The markers of transactions and the records of aborted ones are passed
over, so offsets may have holes. Reading waits before a transaction that is open.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from aiokafka import AIOKafkaConsumer

from streams.kafka.connection import answering, connection_options, unavailable
from streams.kafka.partitions import Partition
from streams.wire.topics import MAX_OUTPUT_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from datetime import datetime

    from aiokafka import TopicPartition

    from streams.settings import Settings

TIMEOUT_MS = 10_000
# aiokafka's five minutes are long for a worker whose topic was deleted and created again meanwhile.
METADATA_MS = 10_000
# A worker gets to know with a heartbeat that the group rebalances. Until all workers know, none goes on.
HEARTBEAT_MS = 1000


class FetchedRecord(Protocol):
    """What a consumer returns for each record."""

    offset: int
    timestamp: int  # milliseconds of Unix time; negative if the producer sent none
    timestamp_type: int
    headers: Sequence[tuple[str, bytes]]
    key: bytes | None
    value: bytes | None


class Consumer:
    """An aiokafka consumer that never commits by itself. `ends_of_all` is for one that only asks for the ends."""

    def __init__(
        self,
        settings: Settings,
        *,
        group: str | None = None,
        max_fetch_bytes: int = MAX_OUTPUT_BYTES,
        ends_of_all: bool = False,
        **options: Any,
    ) -> None:
        self._settings = settings
        self._options = {
            "group_id": group,
            "max_partition_fetch_bytes": max_fetch_bytes,
            "isolation_level": "read_uncommitted" if ends_of_all else "read_committed",
            **options,
        }
        self._client: Any = None  # aiokafka builds one only where an event loop runs

    async def start(self) -> None:
        """Connect. If that fails or is cancelled, nothing is left open."""
        self._client = AIOKafkaConsumer(
            **connection_options(self._settings),
            enable_auto_commit=False,
            # If the beginning is deleted while it is read, the reading continues at the new beginning.
            auto_offset_reset="earliest",
            **self._options,
        )
        try:
            with answering(self._settings):
                await self._client.start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Leave the group and disconnect, whether the broker answers or not."""
        if self._client is not None:
            with suppress(asyncio.CancelledError):  # aiokafka lets those of its own tasks out when the broker is away
                await self._client.stop()

    def assign(self, partitions: Iterable[Partition]) -> None:
        """Choose the partitions to read."""
        with answering(self._settings):
            self._client.assign(list(partitions))

    def release(self) -> None:
        """Read no partition any more."""
        with answering(self._settings):
            self._client.unsubscribe()

    def seek(self, partition: Partition, offset: int) -> None:
        """Read this partition next from an offset."""
        with answering(self._settings):
            self._client.seek(partition, offset)

    async def fetch(
        self, *partitions: Partition, timeout_ms: int, max_records: int | None = None
    ) -> dict[Partition, Sequence[FetchedRecord]]:
        """Return the next records of these partitions, or of all assigned ones. Empty if none came in time."""
        try:
            with answering(self._settings):
                fetched = await self._client.getmany(*partitions, timeout_ms=timeout_ms, max_records=max_records)
        except UnicodeDecodeError as error:
            reason = f"a record can't be read, because the name of a header is not UTF-8 ({error})"
            raise unavailable(self._settings, reason) from None
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


def _ours(found: Mapping[TopicPartition, Any]) -> dict[Partition, Any]:
    return {Partition(*source): value for source, value in found.items()}
