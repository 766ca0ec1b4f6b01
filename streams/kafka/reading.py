"""Reading partitions up to a fixed end, for code that has no event loop of its own."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from streams.kafka.admin import find_partitions
from streams.kafka.connection import unavailable
from streams.kafka.consumers import TIMEOUT_MS, Consumer
from streams.kafka.records import is_forwarded
from streams.wire.topics import JUDGMENTS, MAX_OUTPUT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from streams.kafka.consumers import FetchedRecord
    from streams.kafka.partitions import Partition
    from streams.settings import Settings
    from streams.wire.topics import Topic

POLL_MS = 200
MAX_POLLS = TIMEOUT_MS // POLL_MS  # without progress


class Reader:
    """A consumer, with methods that run on an event loop of its own."""

    def __init__(self, settings: Settings, runner: asyncio.Runner, consumer: Consumer) -> None:
        self._settings = settings
        self._runner = runner
        self._consumer = consumer

    def beginnings(self, partitions: Sequence[Partition]) -> dict[Partition, int]:
        """Return the offset of the first record that the broker still has, per partition."""
        return self._runner.run(self._consumer.beginning_offsets(partitions))

    def ends(self, partitions: Sequence[Partition]) -> dict[Partition, int]:
        """Return the offset up to which each partition can be read."""
        return self._runner.run(self._consumer.end_offsets(partitions))

    def since(self, partitions: Sequence[Partition], moment: datetime) -> dict[Partition, int | None]:
        """Return the offset of the first record at or after a time, per partition; None if there is none."""
        return self._runner.run(self._consumer.offsets_since(partitions, moment))

    def committed(self, partition: Partition) -> int:
        """Return the offset that the reader's group has committed."""
        return self._runner.run(self._consumer.committed(partition))

    def read(
        self, starts: Mapping[Partition, int], ends: Mapping[Partition, int], *, max_records: int | None = None
    ) -> Iterator[tuple[Partition, Sequence[FetchedRecord]]]:
        """Read each partition from its start to before its end, in batches of one partition."""
        self._runner.run(self._seek(starts))
        polls, positions = 0, dict(starts)
        while behind := [partition for partition, end in ends.items() if positions[partition] < end]:
            # A part of the log without committed records moves the position and returns nothing.
            fetched = self._runner.run(self._consumer.fetch(*behind, timeout_ms=POLL_MS, max_records=max_records))
            for partition, records in fetched.items():
                if wanted := [record for record in records if record.offset < ends[partition]]:
                    yield partition, wanted
            before, positions = positions, self._runner.run(self._positions(ends))
            polls = polls + 1 if positions == before else 0
            if polls >= MAX_POLLS:
                raise unavailable(self._settings, f"{behind[0]} was not read to its end")

    async def _positions(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return {partition: await self._consumer.position(partition) for partition in partitions}

    async def _seek(self, starts: Mapping[Partition, int]) -> None:
        self._consumer.assign(starts)
        for partition, start in starts.items():
            self._consumer.seek(partition, start)


@contextmanager
def open_reader(
    settings: Settings, *, group: str | None = None, max_fetch_bytes: int = MAX_OUTPUT_BYTES
) -> Iterator[Reader]:
    """Connect a reader, and disconnect it at the end. A group is only asked for its offsets, not joined."""
    with asyncio.Runner() as runner:
        consumer = runner.run(_start(settings, group, max_fetch_bytes))
        try:
            yield Reader(settings, runner, consumer)
        finally:
            runner.run(consumer.stop())


@contextmanager
def following_log_ends(settings: Settings) -> Iterator[Callable[[], dict[int, int]]]:
    """Connect, and yield a function that returns up to where each partition of the log can be read at that moment."""
    partitions = asyncio.run(find_partitions(settings, JUDGMENTS))[JUDGMENTS.name]
    with open_reader(settings) as reader:
        yield lambda: {partition.number: end for partition, end in reader.ends(partitions).items()}


async def _start(settings: Settings, group: str | None, max_fetch_bytes: int) -> Consumer:
    consumer = Consumer(settings, group=group, max_fetch_bytes=max_fetch_bytes, request_timeout_ms=TIMEOUT_MS)
    await consumer.start()
    return consumer


class TopicRecord(NamedTuple):
    """One record, its place in the topic, and its time."""

    topic: str
    partition: int
    offset: int
    at: datetime
    key: bytes | None
    value: bytes
    is_forwarded: bool = False  # a copy: the original is on another partition

    @property
    def place(self) -> str:
        """Return topic, partition and offset in one word."""
        return f"{self.topic}/{self.partition}/{self.offset}"


class TopicReader:
    """The records of a topic from a time to its present end, each partition in its order."""

    def __init__(self, reader: Reader, partitions: Sequence[Partition], since: datetime | None) -> None:
        self._reader = reader
        self._ends = reader.ends(partitions)
        self._starts = reader.beginnings(partitions)
        if since is not None:
            found = reader.since(partitions, since)
            self._starts = {
                partition: self._ends[partition] if start is None else start for partition, start in found.items()
            }
        self.total = sum(self._ends.values()) - sum(self._starts.values())  # offsets, of which some may be gone

    def __iter__(self) -> Iterator[TopicRecord]:
        for partition, records in self._reader.read(self._starts, self._ends):
            for record in records:
                at = record_time(record)
                value = record.value or b""
                copied = is_forwarded(record.headers)
                yield TopicRecord(partition.topic, partition.number, record.offset, at, record.key, value, copied)


@contextmanager
def read_topic(settings: Settings, topic: Topic, *, since: datetime | None = None) -> Iterator[TopicReader]:
    """Open a topic to read it to its present end, from its beginning or from a time."""
    partitions = asyncio.run(find_partitions(settings, topic))[topic.name]
    with open_reader(settings) as reader:
        yield TopicReader(reader, partitions, since)


def record_time(record: FetchedRecord) -> datetime:
    """Return the time at which a record was written; the Unix epoch if the producer sent none."""
    return datetime.fromtimestamp(max(0, record.timestamp) / 1000, UTC)
