"""The log read again from its beginning, for what has to be rated anew."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from streams.errors import BrokerUnavailable, HistoryGone
from streams.kafka.connection import connection
from streams.pipeline.record import Record
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.settings import Settings

PATIENCE_MS = 10_000


def read_before(settings: Settings, topic: str, partition: int, before: int) -> Iterator[Record]:
    """Give the records of a partition before an offset, from a thread that has no event loop of its own."""
    source = TopicPartition(topic, partition)
    with asyncio.Runner() as runner:
        consumer = runner.run(_opened(settings, source))
        try:
            while runner.run(consumer.position(source)) < before:
                fetched = runner.run(consumer.getmany(source, timeout_ms=PATIENCE_MS)).get(source)
                if not fetched:
                    raise BrokerUnavailable(f"Kafka at {settings.kafka} does not give {topic}/{partition} again")
                for record in fetched:
                    if record.offset < before:
                        yield Record(record.offset, record.key, record.value)
        except KafkaError as error:
            raise BrokerUnavailable(f"Kafka at {settings.kafka} does not answer: {error}") from None
        finally:
            runner.run(stopped(consumer))


async def _opened(settings: Settings, source: TopicPartition) -> AIOKafkaConsumer:
    """Start a consumer at the beginning of the log, which must be there."""
    consumer = AIOKafkaConsumer(
        **connection(settings), enable_auto_commit=False, max_partition_fetch_bytes=topics.MAX_LOG_BYTES
    )
    try:
        await consumer.start()
        consumer.assign([source])
        beginning = (await consumer.beginning_offsets([source]))[source]
        if beginning > 0:
            raise HistoryGone(f"{source.topic}/{source.partition} begins at offset {beginning}, the rest is gone")
        consumer.seek(source, 0)
    except KafkaError as error:
        await stopped(consumer)
        raise BrokerUnavailable(f"Kafka at {settings.kafka} does not answer: {error}") from None
    except HistoryGone:
        await stopped(consumer)
        raise
    return consumer


async def stopped(consumer: AIOKafkaConsumer) -> None:
    """Stop a consumer, whether the broker answers or not."""
    with suppress(asyncio.CancelledError):  # aiokafka lets those of its own tasks out when the broker is away
        await consumer.stop()
