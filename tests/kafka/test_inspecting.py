"""One record of the log can be looked at, and an end without records is told from one that was not reached."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicCollection, Uuid

from streams.errors import BrokerUnavailable
from streams.kafka import inspecting
from streams.kafka.inspecting import LogInspector
from streams.kafka.partitions import Partition
from streams.pipeline.record import Record
from streams.settings import Settings


class FakeAdmin:
    """Knows the id of one topic."""

    def __init__(self, options: dict[str, Any]) -> None:
        assert options["bootstrap.servers"] == Settings().kafka

    def describe_topics(self, topics: TopicCollection, *, request_timeout: float) -> dict[str, Future[Any]]:
        (name,) = topics.topic_names
        found: Future[Any] = Future()
        if name == ONE.topic:
            found.set_result(SimpleNamespace(topic_id=Uuid(1, 2)))
        else:
            found.set_exception(KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, "no such topic")))
        return {name: found}


ONE, TWO = Partition("judgments.v1", 1), Partition("judgments.v1", 2)


class FakeConsumer:
    """Logs whose records come with the second fetch. An end may have offsets without a record."""

    def __init__(self, *_: object, **__: object) -> None:
        self.logs = {ONE: [Record(4, b"c", b"four"), Record(7, b"c", b"seven")], TWO: []}
        self.ends = {ONE: 10, TWO: 3}
        self.assigned: tuple[Partition, ...] = ()
        self.offset = 0
        self.fetches = 0
        self.is_stuck = False

    def assign(self, partitions: Iterable[Partition]) -> None:
        assert not self.assigned, "one look after the other"
        self.assigned, self.fetches = tuple(partitions), 0

    def release(self) -> None:
        self.assigned = ()

    def seek(self, partition: Partition, offset: int) -> None:
        assert self.assigned == (partition,)
        self.offset = offset

    async def fetch(self, partition: Partition, *, timeout_ms: int, max_records: int) -> dict[Partition, list[Record]]:
        await asyncio.sleep(0)
        self.fetches += 1
        if self.fetches == 1 or self.is_stuck:
            return {}
        found = [record for record in self.logs[partition] if record.offset >= self.offset][:max_records]
        if not found:
            self.offset = self.ends[partition]
        return {partition: found} if found else {}

    async def position(self, partition: Partition) -> int:
        return self.offset


@pytest.fixture
def inspector(monkeypatch: pytest.MonkeyPatch) -> LogInspector:
    monkeypatch.setattr(inspecting, "Consumer", FakeConsumer)
    return LogInspector(Settings())


def consumer_of(inspector: LogInspector) -> Any:
    return inspector._consumer


@pytest.mark.parametrize(("offset", "found", "after"), [(4, b"four", 5), (5, b"seven", 8), (8, None, 10)])
def test_the_first_record_from_an_offset_on_is_found(
    inspector: LogInspector, offset: int, found: bytes | None, after: int
) -> None:
    record, position = asyncio.run(inspector.find_record(ONE, offset, end=10))
    assert (record and record.value, position) == (found, after)
    assert consumer_of(inspector).assigned == ()


def test_two_looks_at_the_same_time_do_not_disturb_each_other(inspector: LogInspector) -> None:
    async def both() -> list[tuple[Any, int]]:
        return list(await asyncio.gather(inspector.find_record(ONE, 4, end=10), inspector.find_record(TWO, 0, end=3)))

    (first, _), (second, end) = asyncio.run(both())
    assert (first.value, second, end) == (b"four", None, 3)


def test_a_broker_that_shows_nothing_is_not_waited_for_for_ever(
    inspector: LogInspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting, "LOOK_SECONDS", 0.01)
    consumer_of(inspector).is_stuck = True
    assert asyncio.run(inspector.find_record(ONE, 4, end=10)) == (None, 4)


def test_a_topic_has_an_id_and_one_that_is_gone_is_an_error(
    inspector: LogInspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting, "AdminClient", FakeAdmin)
    assert asyncio.run(inspector.find_topic_id(ONE.topic)) == str(Uuid(1, 2))
    with pytest.raises(BrokerUnavailable, match="no such topic"):
        asyncio.run(inspector.find_topic_id("another"))
