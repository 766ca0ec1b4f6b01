"""Following topics without a group, from near their ends, for as long as the monitor runs."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from streams.kafka.admin import find_partitions
from streams.kafka.consumers import open_consumer
from streams.kafka.reading import record_time
from streams.wire.topics import JUDGMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from streams.kafka.consumers import Consumer
    from streams.kafka.partitions import Partition
    from streams.settings import Settings
    from streams.wire.topics import Topic

    Receive = Callable[[Topic, bytes | None, bytes | None, datetime], None]

POLL_MS = 500
MAX_RECORDS = 500  # at once, so that nobody else has to wait long for the event loop
REQUEST_MS = 5000


class TopicFollower:
    """Follows topics. Each comes with the number of records before the end of a partition at which it begins."""

    def __init__(self, settings: Settings, followed: Iterable[tuple[Topic, int]]) -> None:
        self._settings = settings
        self._topics = {topic.within(settings.namespace): (topic, back) for topic, back in followed}
        self._stack = AsyncExitStack()
        self._consumer: Consumer | None = None
        self._ends: Consumer | None = None
        self._partitions: dict[str, list[Partition]] = {}

    async def start(self) -> None:
        """Connect and seek. Raise BrokerUnavailable or TopicError if that is not possible."""
        followed = [topic for topic, _ in self._topics.values()]
        found = await self._find_partitions()
        partitions = [partition for topic in followed for partition in found[topic.name]]
        consumer = await self._stack.enter_async_context(
            open_consumer(self._settings, partitions, timeout_ms=REQUEST_MS)
        )
        ends = await consumer.end_offsets(partitions)
        beginnings = await consumer.beginning_offsets(partitions)
        for partition, end in ends.items():
            _, back = self._topics[partition.topic]
            consumer.seek(partition, max(beginnings[partition], end - back))
        self._partitions = found
        self._ends = await self._stack.enter_async_context(
            open_consumer(self._settings, (), timeout_ms=REQUEST_MS, ends_of_all=True)
        )
        self._consumer = consumer

    async def follow(self, receive: Receive) -> None:
        """Pass records on as they come, without end. None come while Kafka is away."""
        assert self._consumer is not None
        while True:
            fetched = await self._consumer.fetch(timeout_ms=POLL_MS, max_records=MAX_RECORDS)
            for partition, records in fetched.items():
                topic, _ = self._topics[partition.topic]
                for record in records:
                    receive(topic, record.key, record.value, record_time(record))
            await asyncio.sleep(0)

    async def log_ends(self) -> dict[int, tuple[int, int]]:
        """Return the end of the log per partition, and up to where it can be read.

        Transactions that are open lie between the two. Raise BrokerUnavailable if Kafka does not answer.
        """
        assert self._ends is not None
        assert self._consumer is not None
        partitions = self._partitions[JUDGMENTS.name]
        readable = await self._consumer.end_offsets(partitions)
        ends = await self._ends.end_offsets(partitions)
        return {partition.number: (end, readable[partition]) for partition, end in ends.items()}

    async def has_new_partitions(self) -> bool:
        """Return whether a topic has other partitions than when this follower was started."""
        return await self._find_partitions() != self._partitions

    async def _find_partitions(self) -> dict[str, list[Partition]]:
        return await find_partitions(self._settings, JUDGMENTS, *(topic for topic, _ in self._topics.values()))

    async def stop(self) -> None:
        """Disconnect."""
        self._consumer = self._ends = None
        await self._stack.aclose()
