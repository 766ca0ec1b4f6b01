"""Partitions are read from an offset to before another; a broker that stops answering is an error."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import pytest

from streams.errors import BrokerUnavailable
from streams.kafka.partitions import Partition
from streams.kafka.reading import Reader, TopicReader, TopicRecord
from streams.settings import Settings
from tests.builders import NOON

ONE, TWO = Partition("judgments.v1", 0), Partition("judgments.v1", 1)


class Fetched(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


class FakeConsumer:
    """Two partitions in memory. A fetch returns at most two records of each, or passes over offsets without any."""

    def __init__(
        self, offsets: dict[Partition, list[int]], *, ends: dict[Partition, int] | None = None, silent: bool = False
    ) -> None:
        self._offsets = offsets
        self._ends = ends or {partition: found[-1] + 1 for partition, found in offsets.items()}
        self._positions: dict[Partition, int] = {}
        self._silent = silent

    async def beginning_offsets(self, partitions: list[Partition]) -> dict[Partition, int]:
        return {partition: self._offsets[partition][0] for partition in partitions}

    async def end_offsets(self, partitions: list[Partition]) -> dict[Partition, int]:
        return {partition: self._ends[partition] for partition in partitions}

    async def offsets_since(self, partitions: list[Partition], moment: object) -> dict[Partition, int | None]:
        return {partition: None if partition == TWO else 3 for partition in partitions}

    def assign(self, partitions: object) -> None:
        pass

    def seek(self, partition: Partition, offset: int) -> None:
        self._positions[partition] = offset

    async def position(self, partition: Partition) -> int:
        return self._positions[partition]

    async def fetch(self, *partitions: Partition, **_: object) -> dict[Partition, list[Fetched]]:
        if self._silent:
            return {}
        found = {}
        for partition in partitions:
            offsets = [offset for offset in self._offsets[partition] if offset >= self._positions[partition]][:2]
            if offsets:
                found[partition] = [Fetched(offset, -1, b"k", None) for offset in offsets]
            passed = min(self._positions[partition] + 50, self._ends[partition])
            self._positions[partition] = offsets[-1] + 1 if offsets else passed
        return found


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def reader(runner: asyncio.Runner, *, silent: bool = False) -> Reader:
    """A log in which some offsets are gone, as in a compacted topic."""
    log = FakeConsumer({ONE: [0, 1, 3, 4, 5], TWO: [7]}, silent=silent)
    return Reader(Settings(kafka="a:1"), runner, cast("Any", log))


def test_records_are_read_in_order_and_not_beyond_the_end(runner: asyncio.Runner) -> None:
    batches = reader(runner).read({ONE: 1, TWO: 7}, {ONE: 5, TWO: 8})
    found = [(str(partition), [record.offset for record in records]) for partition, records in batches]
    assert found == [("judgments.v1/0", [1, 3]), ("judgments.v1/1", [7]), ("judgments.v1/0", [4])]


def test_a_log_that_ends_with_an_aborted_transaction_is_read_to_its_end(runner: asyncio.Runner) -> None:
    log = FakeConsumer({ONE: [0, 1, 2], TWO: []}, ends={ONE: 120, TWO: 7})
    sparse = Reader(Settings(kafka="a:1"), runner, cast("Any", log))
    batches = sparse.read({ONE: 0, TWO: 0}, sparse.ends([ONE, TWO]))
    assert [record.offset for _, records in batches for record in records] == [0, 1, 2]


def test_a_broker_that_stops_answering_is_an_error(runner: asyncio.Runner) -> None:
    message = "Kafka at a:1 does not answer: judgments.v1/0 was not read to its end"
    with pytest.raises(BrokerUnavailable, match=message):
        list(reader(runner, silent=True).read({ONE: 0}, {ONE: 5}))


def test_a_topic_is_read_from_its_beginning_or_from_a_time(runner: asyncio.Runner) -> None:
    topic = TopicReader(reader(runner), [ONE, TWO], None)
    assert topic.total == 7
    records = list(topic)
    assert {type(record) for record in records} == {TopicRecord}
    assert max(record.place for record in records) == "judgments.v1/1/7"
    assert records[0].value == b""
    assert records[0].at.timestamp() == 0
    later = TopicReader(reader(runner), [ONE, TWO], NOON)
    assert [record.offset for record in later] == [3, 4, 5]
    assert later.total == 3
