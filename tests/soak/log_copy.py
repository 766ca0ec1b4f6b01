"""A full copy of the log, which a soak keeps for itself before the head of a partition is deleted."""

from __future__ import annotations

import asyncio
import threading

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from streams.kafka.records import raw_records
from streams.pipeline.record import Record


class LogCopy:
    """Follows all partitions of the log from the start, in a thread. `ends` are the offsets after what it has read."""

    def __init__(self, kafka: str, topic: str, partitions: int) -> None:
        self.records: list[list[Record]] = [[] for _ in range(partitions)]
        self.ends = [0] * partitions
        self.failure: BaseException | None = None
        self._kafka, self._topic = kafka, topic
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="copy", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more after what is being read now."""
        self._over.set()

    def _run(self) -> None:
        try:
            asyncio.run(self._follow())
        except BaseException as error:  # noqa: BLE001 - the soak ends with it, in its own thread
            self.failure = error

    async def _follow(self) -> None:
        async with AIOKafkaConsumer(
            bootstrap_servers=self._kafka,
            isolation_level="read_committed",
            # Nothing may be skipped: a deleted head that was not copied yet is an error.
            auto_offset_reset="none",
            enable_auto_commit=False,
            max_partition_fetch_bytes=2**24,
        ) as consumer:
            partitions = [TopicPartition(self._topic, number) for number in range(len(self.ends))]
            consumer.assign(partitions)
            for partition in partitions:
                consumer.seek(partition, 0)
            while not self._over.is_set():
                try:
                    found = await consumer.getmany(timeout_ms=200)
                except KafkaError as error:
                    if not error.retriable:
                        raise
                    continue
                for partition, records in found.items():
                    self.records[partition.partition] += raw_records(records)
                for partition in partitions:
                    self.ends[partition.partition] = await consumer.position(partition)
