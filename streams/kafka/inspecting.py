"""Looking at the log beside the consumer that reads it: where it begins and ends, and which record is at an offset."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from streams.kafka.connection import rdkafka_options, unavailable
from streams.kafka.consumers import METADATA_MS, Consumer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.kafka.consumers import FetchedRecord
    from streams.kafka.partitions import Partition
    from streams.settings import Settings

LOOK_SECONDS = 5.0
STEP_MS = 200
FETCH_BYTES = 64 * 1024  # one record is looked at; a larger one comes alone


class LogInspector:
    """A consumer without a group. It looks at one partition after the other, and holds on to none."""

    def __init__(self, settings: Settings) -> None:
        # A partition that has nothing new must not keep the next one waiting.
        self._consumer = Consumer(
            settings, max_fetch_bytes=FETCH_BYTES, fetch_max_wait_ms=10, metadata_max_age_ms=METADATA_MS
        )
        self._looking = asyncio.Lock()
        self._settings = settings
        self._admin: AdminClient | None = None  # only librdkafka's knows the ids of topics

    async def start(self) -> None:
        """Connect. If that fails or is cancelled, nothing is left open."""
        await self._consumer.start()

    async def stop(self) -> None:
        """Disconnect."""
        await self._consumer.stop()

    async def find_topic_id(self, topic: str) -> str:
        """Return the id of a topic. A topic that is deleted and created again gets another one."""
        if self._admin is None:
            self._admin = AdminClient(rdkafka_options(self._settings) | {"log_level": 2})
        asked = self._admin.describe_topics(TopicCollection([topic]), request_timeout=LOOK_SECONDS)
        try:
            return str((await asyncio.wrap_future(asked[topic])).topic_id)
        except KafkaException as error:
            raise unavailable(self._settings, error.args[0].str()) from None

    async def beginning_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset of the first record that the broker still has, per partition."""
        return await self._consumer.beginning_offsets(partitions)

    async def end_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset up to which each partition can be read. A transaction that is open is after it."""
        return await self._consumer.end_offsets(partitions)

    async def find_record(self, partition: Partition, offset: int, *, end: int) -> tuple[FetchedRecord | None, int]:
        """Return the first record from an offset on, and the offset after it.

        Without a record before the end, return None and the offset up to which there is none.
        """
        async with self._looking:
            self._consumer.assign([partition])
            try:
                self._consumer.seek(partition, offset)
                give_up_at = monotonic() + LOOK_SECONDS
                while True:
                    fetched = await self._consumer.fetch(partition, timeout_ms=STEP_MS, max_records=1)
                    if records := fetched.get(partition):
                        return records[0], records[0].offset + 1
                    position = await self._consumer.position(partition)
                    if position >= end or monotonic() > give_up_at:
                        return None, position
            finally:
                self._consumer.release()
