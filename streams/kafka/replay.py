"""A log on its way into Kafka: what stands there already is left out, the rest follows in order, and is waited for."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from aiokafka.errors import KafkaError
from aiokafka.partitioner import DefaultPartitioner

from streams.core.campaign.campaign import Campaign
from streams.errors import BrokerUnavailable, NoAnswer
from streams.kafka.admin import check_topics
from streams.kafka.client import reading
from streams.kafka.producing import acknowledged, producing
from streams.stores.redis.store import RedisStore
from streams.wire import topics
from streams.wire.events import Create, Judgment, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aiokafka import AIOKafkaProducer

    from streams.settings import Settings
    from streams.wire.events import CampaignSettings

    Steps = Iterable[tuple[float, Sequence[Judgment]]]  # seconds to wait, and what goes out then
    Progress = Callable[[int], None]  # how many records are done

MOST_UNDER_WAY = 16  # batches, before the reading waits for the broker
LOOK_SECONDS = 0.1
DIGEST = 16  # bytes

_partitioner = DefaultPartitioner()


class _Named(msgspec.Struct):
    """What tells a judgment of the log; a command has no systems."""

    id: str
    campaign: str
    systems: msgspec.Raw = msgspec.Raw()


_named = msgspec.json.Decoder(_Named)


class PublishedLog:
    """What stands in the log: its campaigns, where its partitions end, and how often each judgment stands there.

    >>> from streams.wire.events import EPOCH
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(1, 2), at=EPOCH)
    >>> two = msgspec.structs.replace(one, id="2")
    >>> published = PublishedLog([digest("c", "1")], campaigns={"c"}, ends=[1])
    >>> [judgment.id for judgment in published.missing([one, two, one])]
    ['2', '1']
    """

    def __init__(self, digests: Sequence[bytes], *, campaigns: set[str], ends: list[int]) -> None:
        self.campaigns = campaigns
        self.ends = ends
        self._homes: dict[str, int] = {}
        # A log may be long: 24 bytes a judgment stay.
        self._known, self._left = np.unique(np.frombuffer(b"".join(digests), f"S{DIGEST}"), return_counts=True)

    def partition(self, campaign: str) -> int:
        """Give the partition of a campaign, as every publisher finds it by the record's key."""
        if campaign not in self._homes:
            self._homes[campaign] = partition_of(campaign, len(self.ends))
        return self._homes[campaign]

    def missing(self, judgments: Sequence[Judgment]) -> Sequence[Judgment]:
        """Leave out what stands in the log; what stands there once is left out once."""
        if not len(self._known):
            return judgments
        wanted = np.array([digest(judgment.campaign, judgment.id) for judgment in judgments], f"S{DIGEST}")
        places = np.minimum(np.searchsorted(self._known, wanted), len(self._known) - 1)
        there = set()
        for k in np.flatnonzero(self._known[places] == wanted).tolist():
            if self._left[places[k]]:
                self._left[places[k]] -= 1
                there.add(k)
        return [judgment for k, judgment in enumerate(judgments) if k not in there] if there else judgments


def digest(campaign: str, name: str) -> bytes:
    """Give the fingerprint of a judgment's id."""
    return blake2b(f"{campaign}\0{name}".encode(), digest_size=DIGEST).digest()


def partition_of(campaign: str, partitions: int) -> int:
    """Give the partition of a campaign's records.

    >>> partition_of("wmt13.fr-en", 12)
    9
    """
    found: int = _partitioner(campaign.encode(), list(range(partitions)), None)
    return found


def log_partitions(settings: Settings) -> int:
    """Count the partitions of the log."""
    (report,) = (report for report in check_topics(settings) if report.topic is topics.JUDGMENTS)
    return report.partitions or 0


def read_published(settings: Settings, *, progress: Progress) -> PublishedLog:
    """Read the whole log; what stands on another partition than its campaign's is rejected, and so not there."""
    ends = [0] * log_partitions(settings)
    homes: dict[str, int] = {}
    digests: list[bytes] = []
    with reading(settings, topics.JUDGMENTS) as records:
        for number, record in enumerate(records, start=1):
            ends[record.partition] = record.offset + 1
            if number % 1000 == 0:
                progress(number)
            try:
                named = _named.decode(record.value)
            except ValueError:
                continue
            if named.campaign not in homes:
                homes[named.campaign] = partition_of(named.campaign, len(ends))
            if bytes(named.systems) and homes[named.campaign] == record.partition:
                digests.append(digest(named.campaign, named.id))
    return PublishedLog(digests, campaigns=set(homes), ends=ends)


@dataclass
class Sent:
    """What became of what was to be sent; `ends` holds the offset after the last record, by partition."""

    acknowledged: int = 0  # judgments
    ends: dict[int, int] = field(default_factory=dict)


def publish(
    settings: Settings, steps: Steps, found: PublishedLog, sent: Sent, *, opening: CampaignSettings, patience: float
) -> None:
    """Publish judgments in their order, each campaign on its partition; SIGINT waits for what is under way.

    A campaign that the log does not know is opened with the `opening` settings in front of its first judgment. A broker
    that is away is waited for, up to the patience in seconds; what it has acknowledged is in `sent` then too.
    """
    try:
        asyncio.run(_publish(settings, steps, found, sent, opening, patience))
    except KafkaError as error:
        raise BrokerUnavailable(
            f"Kafka at {settings.kafka} does not take the records: {error or type(error).__name__}; "
            f"{sent.acknowledged:,} judgments were acknowledged, and the same command goes on after them"
        ) from None


async def _publish(
    settings: Settings, steps: Steps, found: PublishedLog, sent: Sent, opening: CampaignSettings, patience: float
) -> None:
    async with producing(settings, patience=patience) as producer:
        out = _Out(producer, topics.JUDGMENTS.within(settings.namespace), sent, patience)
        try:
            for seconds, judgments in steps:
                await asyncio.sleep(seconds)
                for judgment in judgments:
                    partition = found.partition(judgment.campaign)
                    if judgment.campaign not in found.campaigns:
                        found.campaigns.add(judgment.campaign)
                        await out.add(partition, _create(judgment, opening))
                    await out.add(partition, judgment)
                await out.flush()
        finally:
            await out.settle()  # after SIGINT too, which cancels this task and comes out as KeyboardInterrupt


def _create(first: Judgment, settings: CampaignSettings) -> Create:
    """Open a campaign; its time is the first judgment's, because the campaign's clock is that of its log."""
    return Create(id="replay", campaign=first.campaign, at=first.at, by="judgestream replay", settings=settings)


class _Out:
    """Batches by partition: one that fills, and those that the broker has not acknowledged yet."""

    def __init__(self, producer: AIOKafkaProducer, topic: str, sent: Sent, patience: float) -> None:
        self._producer = producer
        self._topic = topic
        self._sent = sent
        self._patience = patience
        self._filling: dict[int, _Filling] = {}
        self._under_way: deque[tuple[asyncio.Future[Any], int, _Filling]] = deque()

    async def add(self, partition: int, event: Judgment | Create) -> None:
        """Put an event into its partition's batch; send that first if it is full."""
        key, value = event.campaign.encode(), encode(event)
        filling = self._filling.get(partition)
        if filling is None or filling.batch.append(key=key, value=value, timestamp=None) is None:
            if filling is not None:
                await self._send(partition)
            filling = self._filling[partition] = _Filling(self._producer.create_batch())
            filling.batch.append(key=key, value=value, timestamp=None)
        filling.judgments += isinstance(event, Judgment)

    async def flush(self) -> None:
        """Send what fills."""
        for partition in list(self._filling):
            await self._send(partition)

    async def _send(self, partition: int) -> None:
        filling = self._filling.pop(partition)
        filling.batch.close()
        future = await self._producer.send_batch(filling.batch, self._topic, partition=partition)
        self._under_way.append((future, partition, filling))
        await self.settle(MOST_UNDER_WAY)

    async def settle(self, most: int = 0) -> None:
        """Wait until no more batches than this are under way; a batch that failed is raised, and all after it given up.

        The broker takes none after it either: it would miss a number in the producer's sequence.
        """
        while len(self._under_way) > most:
            future, partition, filling = self._under_way[0]
            try:
                start = await acknowledged(future, patience=self._patience)
            except KafkaError:
                self._under_way.clear()
                raise
            self._under_way.popleft()
            self._sent.acknowledged += filling.judgments
            self._sent.ends[partition] = start + filling.batch.record_count()


@dataclass
class _Filling:
    batch: Any
    judgments: int = 0


# -- what a worker makes of it -----------------------------------------------------------------------------


def wait_until_applied(settings: Settings, ends: dict[int, int], *, patience: float, progress: Progress) -> None:
    """Wait until the state in Redis reflects the log up to these ends; NoAnswer if it does not move any more."""
    store, topic = RedisStore(settings.redis, namespace=settings.namespace), topics.JUDGMENTS.within(settings.namespace)
    moved, before = time.monotonic(), -1
    try:
        while True:
            heads = {number: int(store.partition(f"{topic}/{number}").get("offset", 0)) for number in ends}
            behind = sum(max(0, end - heads[number]) for number, end in ends.items())
            total = sum(ends.values())
            progress(total - behind)
            if not behind:
                return
            if behind != before:
                moved, before = time.monotonic(), behind
            elif time.monotonic() - moved > patience:
                raise NoAnswer(
                    f"no worker has gone on for {patience:g} s: {behind:,} records of {topic} are not applied yet; "
                    "they will be when one reads them. Is one running? Look with: judgestream doctor"
                )
            time.sleep(LOOK_SECONDS)
    finally:
        store.close()


def campaigns(settings: Settings, names: Iterable[str]) -> list[Campaign]:
    """Give campaigns as they stand in Redis; one that is not there was not opened."""
    store = RedisStore(settings.redis, namespace=settings.namespace)
    try:
        stored = {name: store.peek(name) for name in sorted(names)}
    finally:
        store.close()
    return [Campaign.restore(name, found) for name, found in stored.items() if found is not None]
