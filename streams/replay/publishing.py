"""Sending a log's judgments to Kafka in order, in batches per partition."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streams.errors import BrokerUnavailable, JudgestreamError
from streams.kafka.producers import open_producer
from streams.wire.events import Create, Judgment, encode
from streams.wire.topics import JUDGMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.kafka.producers import Producer
    from streams.replay.published_log import PublishedLog
    from streams.settings import Settings
    from streams.wire.events import CampaignSettings

    Steps = Iterable[tuple[float, Sequence[Judgment]]]  # seconds to wait, and what is sent then

MAX_UNACKNOWLEDGED = 16  # batches; with more the sender waits for the broker


@dataclass
class SentRecords:
    """What the broker has acknowledged. `ends` holds the offset after the last record, by partition."""

    acknowledged: int = 0  # judgments
    ends: dict[int, int] = field(default_factory=dict)


def publish_log(
    settings: Settings,
    steps: Steps,
    published: PublishedLog,
    sent: SentRecords,
    *,
    opening: CampaignSettings,
    patience: float,
) -> None:
    """Publish judgments in order, each campaign on its partition. SIGINT waits for the batches on their way.

    A campaign that the log does not know is opened with the `opening` settings before its first judgment. A broker
    that is away is waited for, up to `patience` seconds. `sent` is filled in also if an error is raised.
    """

    async def publish() -> None:
        async with open_producer(settings, patience=patience) as producer:
            batches = PartitionBatches(producer, sent)
            try:
                for seconds, judgments in steps:
                    await asyncio.sleep(seconds)
                    for judgment in judgments:
                        partition = published.partition(judgment.campaign)
                        if judgment.campaign not in published.campaigns:
                            published.campaigns.add(judgment.campaign)
                            await batches.add(partition, _create(judgment, opening))
                        await batches.add(partition, judgment)
                    await batches.flush()
            finally:
                await batches.settle()  # after SIGINT too, which cancels this task and comes out as KeyboardInterrupt

    try:
        asyncio.run(publish())
    except BrokerUnavailable as error:
        raise BrokerUnavailable(
            f"{error}; {sent.acknowledged:,} judgments were acknowledged, and the same command goes on after them"
        ) from None


def _create(first: Judgment, settings: CampaignSettings) -> Create:
    """Return the command that opens a campaign. Its time is the first judgment's: a campaign's clock is its log's."""
    return Create(id="replay", campaign=first.campaign, at=first.at, by="judgestream replay", settings=settings)


@dataclass
class _FillingBatch:
    batch: Any  # of aiokafka, which has no types
    judgments: int = 0


class PartitionBatches:
    """The batch that fills, per partition, and the batches that the broker has not acknowledged yet."""

    def __init__(self, producer: Producer, sent: SentRecords) -> None:
        self._producer = producer
        self._sent = sent
        self._filling: dict[int, _FillingBatch] = {}
        self._unacknowledged: deque[tuple[asyncio.Future[Any], int, _FillingBatch]] = deque()

    async def add(self, partition: int, event: Judgment | Create) -> None:
        """Add an event to its partition's batch."""
        filling = await self.append(partition, event.campaign.encode(), encode(event))
        filling.judgments += isinstance(event, Judgment)

    async def append(self, partition: int, key: bytes | None, value: bytes | None) -> _FillingBatch:
        """Add a record to its partition's batch, and return that. Send the one before first if it is full."""
        filling = self._filling.get(partition)
        if filling is None or filling.batch.append(key=key, value=value, timestamp=None) is None:
            if filling is not None:
                await self._send(partition)
            filling = self._filling[partition] = _FillingBatch(self._producer.create_batch())
            filling.batch.append(key=key, value=value, timestamp=None)
        return filling

    async def flush(self) -> None:
        """Send the batches that fill."""
        for partition in list(self._filling):
            await self._send(partition)

    async def _send(self, partition: int) -> None:
        filling = self._filling.pop(partition)
        future = await self._producer.send_batch(JUDGMENTS, partition, filling.batch)
        self._unacknowledged.append((future, partition, filling))
        await self.settle(MAX_UNACKNOWLEDGED)

    async def settle(self, most: int = 0) -> None:
        """Wait until at most this many batches are unacknowledged. If one fails, give up all after it.

        The broker accepts none after it either: a number in the producer's sequence would be missing.
        """
        while len(self._unacknowledged) > most:
            future, partition, filling = self._unacknowledged[0]
            try:
                start = await self._producer.wait_for(future)
            except JudgestreamError:
                self._unacknowledged.clear()
                raise
            self._unacknowledged.popleft()
            self._sent.acknowledged += filling.judgments
            self._sent.ends[partition] = start + filling.batch.record_count()
