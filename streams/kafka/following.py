"""Topics followed without a group, from near their ends on, for as long as somebody looks on; Kafka may be away."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from streams.errors import BrokerUnavailable
from streams.kafka.admin import count_partitions
from streams.kafka.client import started
from streams.kafka.past import stopped
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from streams.settings import Settings
    from streams.wire.topics import Topic

    Take = Callable[[Topic, bytes | None, bytes | None, datetime], None]

POLL_MS = 500
MOST_RECORDS = 500  # at once, so that nobody else has to wait long for the event loop
REQUEST_MS = 5000


class Following:
    """A consumer of no group: with each topic goes how many records before the end of a partition it begins."""

    def __init__(self, settings: Settings, followed: Iterable[tuple[Topic, int]]) -> None:
        self._settings = settings
        self._settings = settings
        self._topics = {topic.within(settings.namespace): (topic, back) for topic, back in followed}
        self._log = topics.JUDGMENTS.within(settings.namespace)
        self._consumer: AIOKafkaConsumer | None = None
        self.partitions = range(0)  # of the log

    async def start(self) -> None:
        """Connect, and go to where the reading begins; BrokerUnavailable or TopicError where that can't be."""
        followed = [topic for topic, _ in self._topics.values()]
        counts = await count_partitions(self._settings, [topics.JUDGMENTS, *followed])
        partitions = [TopicPartition(name, number) for name in self._topics for number in range(counts[name])]
        consumer = None
        try:
            consumer = await started(self._settings, partitions, patience_ms=REQUEST_MS)
            ends = await consumer.end_offsets(partitions)
            beginnings = await consumer.beginning_offsets(partitions)
            for partition, end in ends.items():
                _, back = self._topics[partition.topic]
                consumer.seek(partition, max(beginnings[partition], end - back))
        except KafkaError as error:
            if consumer is not None:
                await stopped(consumer)
            raise BrokerUnavailable(f"Kafka at {self._settings.kafka} does not answer: {error}") from None
        self._consumer = consumer
        self.partitions = range(counts[self._log])

    async def follow(self, take: Take) -> None:
        """Pass records on as they come, without end; while Kafka is away none come."""
        assert self._consumer is not None
        while True:
            try:
                fetched = await self._consumer.getmany(timeout_ms=POLL_MS, max_records=MOST_RECORDS)
            except KafkaError as error:
                raise BrokerUnavailable(f"Kafka at {self._settings.kafka} does not answer: {error}") from None
            for partition, records in fetched.items():
                topic, _ = self._topics[partition.topic]
                for record in records:
                    take(topic, record.key, record.value, datetime.fromtimestamp(max(0, record.timestamp) / 1000, UTC))
            await asyncio.sleep(0)

    async def ends(self) -> dict[int, int]:
        """Give where the log ends, by partition; it is also how one knows that Kafka answers."""
        assert self._consumer is not None
        places = [TopicPartition(self._log, number) for number in self.partitions]
        try:
            found = await self._consumer.end_offsets(places)
        except KafkaError as error:
            raise BrokerUnavailable(f"Kafka at {self._settings.kafka} does not answer: {error}") from None
        return {partition.partition: end for partition, end in found.items()}

    async def stop(self) -> None:
        """Disconnect."""
        if self._consumer is not None:
            consumer, self._consumer = self._consumer, None
            await stopped(consumer)
