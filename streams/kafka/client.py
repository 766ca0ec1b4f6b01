"""The operators' side of Kafka: send a command and wait for its answer, read a topic to its present end, publish."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from streams.errors import BrokerUnavailable, NoAnswer, RecordError
from streams.kafka.admin import check_topics
from streams.kafka.connection import connection
from streams.kafka.past import stopped
from streams.kafka.producing import acknowledged, producing
from streams.wire import topics
from streams.wire.events import CampaignStatus, Rejection, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from streams.settings import Settings
    from streams.wire.events import Command
    from streams.wire.topics import Topic

    Outgoing = tuple[Topic, bytes | None, bytes]  # where to, the key and the value

TIMEOUT_MS = 10_000
POLL_MS = 200


class Found(NamedTuple):
    """One record, and where and when it came to stand there."""

    topic: str
    partition: int
    offset: int
    at: datetime
    key: bytes | None
    value: bytes

    @property
    def place(self) -> str:
        """Write where it stands."""
        return f"{self.topic}/{self.partition}/{self.offset}"


class Reading:
    """The records of a topic from a place to its present end, partition by partition as they come."""

    def __init__(
        self, kafka: str, runner: asyncio.Runner, consumer: AIOKafkaConsumer, ends: dict[TopicPartition, int]
    ) -> None:
        self._kafka = kafka
        self._runner = runner
        self._consumer = consumer
        self._ends = ends
        self.total = sum(end - self._position(partition) for partition, end in ends.items())

    def __iter__(self) -> Iterator[Found]:
        while left := [partition for partition, end in self._ends.items() if self._position(partition) < end]:
            fetched = self._runner.run(self._consumer.getmany(*left, timeout_ms=TIMEOUT_MS))
            if not fetched and any(self._position(partition) < self._ends[partition] for partition in left):
                place = f"{left[0].topic}/{left[0].partition}"
                raise BrokerUnavailable(f"Kafka at {self._kafka} does not answer: {place} was not read to its end")
            for partition, records in fetched.items():
                for record in records:
                    if record.offset < self._ends[partition]:
                        yield Found(
                            partition.topic,
                            partition.partition,
                            record.offset,
                            datetime.fromtimestamp(max(record.timestamp, 0) / 1000, UTC),
                            record.key,
                            record.value or b"",
                        )

    def _position(self, partition: TopicPartition) -> int:
        position: int = self._runner.run(self._consumer.position(partition))
        return position


@contextmanager
def reading(settings: Settings, topic: Topic, *, since: datetime | None = None) -> Iterator[Reading]:
    """Open a topic to be read to where it ends now, from its beginning or from a time."""
    partitions = _partitions(settings, topic)
    with _answering(settings), asyncio.Runner() as runner:
        consumer = runner.run(started(settings, partitions))
        try:
            yield Reading(settings.kafka, runner, consumer, runner.run(_placed(consumer, partitions, since)))
        finally:
            runner.run(stopped(consumer))


def publish(settings: Settings, records: Iterable[Outgoing]) -> int:
    """Publish records in order; give how many, once the broker has them all."""
    check_topics(settings)
    with _answering(settings):
        return asyncio.run(_publish(settings, records))


def sendable(command: Command) -> Outgoing:
    """Make the record of a command."""
    return topics.COMMANDS, command.campaign.encode(), encode(command)


def send(settings: Settings, command: Command, *, timeout: float) -> CampaignStatus:
    """Send a command and wait for the status that it brings about.

    A refusal is raised as the RecordError that a worker made of it, silence as NoAnswer.
    """
    answers = _partitions(settings, topics.CAMPAIGNS, topics.REJECTED)
    with _answering(settings):
        return asyncio.run(_send(settings, command, answers, patience=timeout))


async def _send(
    settings: Settings, command: Command, answers: list[TopicPartition], *, patience: float
) -> CampaignStatus:
    consumer = await started(settings, answers)
    try:
        # What stands there before the question is no answer to it.
        for partition, end in (await consumer.end_offsets(answers)).items():
            consumer.seek(partition, end)
        record = sendable(command)
        await _publish(settings, [record])
        try:
            async with asyncio.timeout(patience):
                return await _answer(consumer, command.id, record[-1])
        except TimeoutError:
            place = topics.COMMANDS.within(settings.namespace)
            raise NoAnswer(
                f"no answer within {patience:g} s; the command {command.id} stands in {place} and takes effect "
                "when a worker reads it; is one running? Look with: judgestream doctor"
            ) from None
    finally:
        await stopped(consumer)


async def _answer(consumer: AIOKafkaConsumer, command: str, value: bytes) -> CampaignStatus:
    """Wait for the status that names the command, or for the rejection that holds it."""
    while True:
        for partition, records in (await consumer.getmany(timeout_ms=POLL_MS)).items():
            for record in records:
                try:
                    if partition.topic.endswith(topics.CAMPAIGNS.name):
                        status = msgspec.json.decode(record.value or b"", type=CampaignStatus)
                        if status.command == command:
                            return status
                    else:
                        rejection = msgspec.json.decode(record.value or b"", type=Rejection)
                        if rejection.original == value:
                            raise RecordError(rejection.reason, rejection.message, field=rejection.field)
                except ValueError:
                    continue  # written by another version, so no answer to this one


async def _publish(settings: Settings, records: Iterable[Outgoing]) -> int:
    patience = TIMEOUT_MS / 1000
    async with producing(settings, patience=patience) as producer:
        sent = [await producer.send(topic.within(settings.namespace), value, key=key) for topic, key, value in records]
        for each in sent:
            await acknowledged(each, patience=patience)
    return len(sent)


async def started(
    settings: Settings, partitions: list[TopicPartition], *, patience_ms: int = TIMEOUT_MS
) -> AIOKafkaConsumer:
    """Start a consumer of no group; if the beginning is deleted meanwhile it goes on from the new one."""
    consumer = AIOKafkaConsumer(
        **connection(settings),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        request_timeout_ms=patience_ms,
        max_partition_fetch_bytes=topics.MAX_OUTPUT_BYTES,
    )
    try:
        await consumer.start()
    except KafkaError:
        await stopped(consumer)
        raise
    consumer.assign(partitions)
    return consumer


async def _placed(
    consumer: AIOKafkaConsumer, partitions: list[TopicPartition], since: datetime | None
) -> dict[TopicPartition, int]:
    """Go to where the reading begins; give where it ends."""
    ends: dict[TopicPartition, int] = await consumer.end_offsets(partitions)
    starts = await consumer.beginning_offsets(partitions)
    if since is not None:
        moment = max(0, int(since.timestamp() * 1000))  # a negative one means something else to Kafka
        later = await consumer.offsets_for_times(dict.fromkeys(partitions, moment))
        starts = {partition: found.offset if found else ends[partition] for partition, found in later.items()}
    for partition, start in starts.items():
        consumer.seek(partition, start)
    return ends


def _partitions(settings: Settings, *wanted: Topic) -> list[TopicPartition]:
    """Find the partitions of topics; none of the contract may be missing."""
    return [
        TopicPartition(report.name, number)
        for report in check_topics(settings)
        if report.topic in wanted
        for number in range(report.partitions or 0)
    ]


@contextmanager
def _answering(settings: Settings) -> Iterator[None]:
    try:
        yield
    except MessageSizeTooLargeError:
        message = f"a record has more than the {topics.MAX_LOG_BYTES} bytes that the log takes"
        raise RecordError("too_large", message) from None
    except KafkaError as error:
        raise BrokerUnavailable(f"Kafka at {settings.kafka} does not answer: {error}") from None
