"""Publishing records: a list of them at once, or the judgments of many HTTP requests over one connection."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from streams.errors import BrokerUnavailable
from streams.kafka.admin import check_topics
from streams.kafka.connection import answering, unavailable
from streams.kafka.producers import Producer, open_producer
from streams.wire import topics
from streams.wire.events import Judgment, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.settings import Settings
    from streams.wire.events import Command
    from streams.wire.topics import Topic

LIST_PATIENCE_SECONDS = 10.0
PATIENCE_SECONDS = 5.0
LINGER_MS = 10  # how long a record waits for others: one request to the broker costs as much as many records


class OutgoingRecord(NamedTuple):
    """A record to publish."""

    topic: Topic
    key: bytes | None
    value: bytes


def publish_records(settings: Settings, records: Iterable[OutgoingRecord]) -> int:
    """Publish records in order. Return their number once the broker has them all."""
    check_topics(settings)
    return asyncio.run(send_records(settings, records))


async def send_records(settings: Settings, records: Iterable[OutgoingRecord]) -> int:
    """Send records in order. Return their number once the broker has them all."""
    async with open_producer(settings, patience=LIST_PATIENCE_SECONDS) as producer:
        sent = [await producer.send(record.topic, record.key, record.value) for record in records]
        for each in sent:
            await producer.wait_for(each)
    return len(sent)


class Publisher:
    """One producer for many senders: judgments that arrive while a batch is on its way go with the next one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._producer: Producer | None = None

    async def start(self) -> None:
        """Connect, or raise BrokerUnavailable."""
        producer = Producer(self._settings, patience=PATIENCE_SECONDS, linger_ms=LINGER_MS)
        with answering(self._settings):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await producer.start()
        self._producer = producer

    async def publish(self, events: Sequence[Judgment | Command]) -> None:
        """Append judgments to the log in order, and commands to theirs. When this returns, the broker has them all."""
        try:
            await self._publish(events)
        except BrokerUnavailable as error:
            raise BrokerUnavailable(f"{error}; send them again: what Kafka has already will not count twice") from None

    async def _publish(self, events: Sequence[Judgment | Command]) -> None:
        producer = self._producer
        if producer is None:
            raise unavailable(self._settings, "not connected yet")
        with answering(self._settings):
            async with asyncio.timeout(PATIENCE_SECONDS):
                sent = [
                    await producer.send(
                        topics.JUDGMENTS if isinstance(event, Judgment) else topics.COMMANDS,
                        event.campaign.encode(),
                        encode(event),
                    )
                    for event in events
                ]
        for each in sent:
            each.add_done_callback(_retrieve)
        for each in sent:
            await producer.wait_for(each)

    async def stop(self) -> None:
        """Disconnect."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()


def _retrieve(sent: asyncio.Future[object]) -> None:
    """Retrieve the outcome of a record. Nobody may wait for it any more, and asyncio would complain."""
    if not sent.cancelled():
        sent.exception()
