"""The workers' consumer reads what it is asked for, from the offsets that it is asked for, and nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, KafkaError
from confluent_kafka import TopicPartition as ClientPartition

from streams.errors import BrokerUnavailable
from streams.kafka import group_consumer
from streams.kafka.group_consumer import GroupConsumer, message_block, sent_at
from streams.kafka.partitions import Partition
from streams.settings import Settings
from streams.wire.outputs import FORWARDED_FROM

TOPIC = "judgments.v1"
ONE, TWO = Partition(TOPIC, 1), Partition(TOPIC, 2)


class FakeMessage:
    """A record, or an error in its place."""

    def __init__(
        self,
        partition: int,
        offset: int,
        *,
        error: int | None = None,
        stamp: tuple[int, int] = (TIMESTAMP_CREATE_TIME, 5000),
        headers: list[tuple[str, bytes]] | None = None,
    ) -> None:
        self._partition, self._offset, self._stamp, self._headers = partition, offset, stamp, headers
        self._error = None if error is None else KafkaError(error, "as the broker says")

    def partition(self) -> int:
        return self._partition

    def offset(self) -> int:
        return self._offset

    def error(self) -> KafkaError | None:
        return self._error

    def key(self) -> bytes:
        return b"c"

    def value(self) -> bytes:
        return b"value %d" % self._offset

    def timestamp(self) -> tuple[int, int]:
        return self._stamp

    def headers(self) -> list[tuple[str, bytes]] | None:
        return self._headers


class FakeClient:
    """librdkafka's consumer: it returns what has come, and calls back within `poll`."""

    def __init__(self, options: dict[str, Any], **_: Any) -> None:
        self.options = options
        self.coming: deque[FakeMessage] = deque()
        self.calls: list[tuple[str, list[tuple[int, int]]]] = []
        self.due: deque[Callable[[], None]] = deque()  # rebalances

    def subscribe(self, topics: list[str], **listeners: Callable[[Any, Any], None]) -> None:
        self.topics, self.listeners = topics, listeners
        self.rebalance("on_assign", ONE.number, TWO.number)

    def rebalance(self, kind: str, *numbers: int) -> None:
        self.due.append(lambda: self.listeners[kind](self, [ClientPartition(TOPIC, each) for each in numbers]))

    def poll(self, timeout: float) -> FakeMessage | None:
        while self.due:
            self.due.popleft()()
        return self.coming.popleft() if self.coming else None

    def consume(self, most: int, timeout: float) -> list[FakeMessage]:
        return [self.coming.popleft() for _ in range(min(most, len(self.coming)))]

    def seek(self, partition: ClientPartition) -> None:
        self._called("seek", [partition])

    def __getattr__(self, name: str) -> Callable[[Sequence[ClientPartition]], None]:
        if name not in {"pause", "resume", "incremental_assign", "incremental_unassign"}:
            raise AttributeError(name)
        return lambda partitions: self._called(name, partitions)

    def _called(self, name: str, partitions: Sequence[ClientPartition]) -> None:
        self.calls.append((name, [(each.partition, each.offset) for each in partitions]))

    def drain_calls(self) -> list[tuple[str, list[int]]]:
        calls, self.calls = self.calls, []
        return [(name, [number for number, _ in partitions]) for name, partitions in calls]

    def close(self) -> None:
        pass


class FakeClock:
    """Takes the place of the module `time`."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(round(seconds, 6))


class Listener:
    def __init__(self) -> None:
        self.assigned: list[Partition] = []
        self.revoked: list[Partition] = []

    def on_assigned(self, partitions: Sequence[Partition]) -> None:
        self.assigned += partitions

    async def on_revoked(self, partitions: Sequence[Partition]) -> None:
        await asyncio.sleep(0)
        self.revoked += partitions


Work = Callable[[GroupConsumer, FakeClient, Listener], Awaitable[None]]


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Callable[[Work], None]:
    """Run work with a consumer that has joined the group and has two partitions."""
    monkeypatch.setattr(group_consumer, "Client", FakeClient)

    def run(work: Work) -> None:
        async def join() -> None:
            consumer, listener = GroupConsumer(Settings(kafka="a:1")), Listener()
            await consumer.join(TOPIC, listener)
            client: FakeClient = consumer._client
            assert listener.assigned == [ONE, TWO]
            client.calls.clear()
            try:
                await work(consumer, client, listener)
            finally:
                await consumer.stop()

        asyncio.run(join())

    return run


def offsets(found: dict[Partition, list[Any]]) -> dict[Partition, list[int]]:
    return {partition: [each.offset() for each in messages] for partition, messages in found.items()}


def test_it_reads_only_what_is_committed_and_commits_only_what_it_is_given(joined: Callable[[Work], None]) -> None:
    async def work(_: GroupConsumer, client: FakeClient, __: Listener) -> None:
        assert client.topics == [TOPIC]
        assert client.options["isolation.level"] == "read_committed"
        assert client.options["enable.auto.offset.store"] is False

    joined(work)


def test_a_partition_is_read_from_its_offset_and_paused_when_nobody_waits_for_it(
    joined: Callable[[Work], None],
) -> None:
    async def work(consumer: GroupConsumer, client: FakeClient, _: Listener) -> None:
        client.coming.extend([FakeMessage(1, 7), FakeMessage(2, 0), FakeMessage(1, 8)])
        found = await consumer.fetch({ONE: 7, TWO: 0}, seconds=1, most=10)
        assert offsets(found) == {ONE: [7, 8], TWO: [0]}
        assert client.calls[0] == ("seek", [(1, 7)])
        assert client.drain_calls() == [("seek", [1]), ("resume", [1]), ("seek", [2]), ("resume", [2])]
        await consumer.fetch({ONE: 9, TWO: 1}, seconds=0, most=10)
        assert client.drain_calls() == [], "it is there already"
        client.coming.append(FakeMessage(1, 9))
        assert offsets(await consumer.fetch({TWO: 1}, seconds=0, most=10)) == {}, "it came too late to be stopped"
        assert client.drain_calls() == [("pause", [1])]
        await consumer.fetch({ONE: 9, TWO: 1}, seconds=0, most=10)
        assert client.drain_calls() == [("seek", [1]), ("resume", [1])]

    joined(work)


def test_no_more_records_are_returned_than_asked_for_and_none_is_lost(joined: Callable[[Work], None]) -> None:
    async def work(consumer: GroupConsumer, client: FakeClient, _: Listener) -> None:
        client.coming.extend(FakeMessage(1, offset) for offset in range(5))
        assert offsets(await consumer.fetch({ONE: 0}, seconds=0, most=1)) == {ONE: [0]}
        assert offsets(await consumer.fetch({ONE: 1}, seconds=0, most=3)) == {ONE: [1, 2, 3]}
        assert offsets(await consumer.fetch({ONE: 4}, seconds=0, most=3)) == {ONE: [4]}

    joined(work)


def test_what_came_before_an_error_in_a_partition_is_returned_and_what_comes_after_it_is_read_again(
    joined: Callable[[Work], None], caplog: pytest.LogCaptureFixture
) -> None:
    async def work(consumer: GroupConsumer, client: FakeClient, _: Listener) -> None:
        broken = FakeMessage(1, 1, error=KafkaError._BAD_MSG)
        client.coming.extend([FakeMessage(1, 0), FakeMessage(2, 0), broken, FakeMessage(1, 2)])
        assert offsets(await consumer.fetch({ONE: 0, TWO: 0}, seconds=0, most=10)) == {ONE: [0], TWO: [0]}
        assert f"{ONE}: as the broker says" in caplog.text
        client.calls.clear()
        client.coming.extend([FakeMessage(1, 1, error=KafkaError._BAD_MSG), FakeMessage(1, 2)])
        assert offsets(await consumer.fetch({ONE: 1, TWO: 1}, seconds=0, most=10)) == {}
        assert client.calls[0] == ("seek", [(1, 1)])

    joined(work)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "may not do this (as the broker says)"),
        (KafkaError.INCONSISTENT_GROUP_PROTOCOL, "as the broker says. Stop the workers of an earlier version first"),
    ],
)
def test_an_error_that_only_an_operator_can_end_is_raised(joined: Callable[[Work], None], code: int, said: str) -> None:
    async def work(consumer: GroupConsumer, client: FakeClient, _: Listener) -> None:
        client.coming.extend([FakeMessage(1, 0), FakeMessage(1, 0, error=code)])
        with pytest.raises(BrokerUnavailable) as raised:
            await consumer.fetch({ONE: 0}, seconds=0, most=10)
        assert said in str(raised.value)
        client.calls.clear()
        client.coming.append(FakeMessage(1, 0))
        assert offsets(await consumer.fetch({ONE: 0}, seconds=0, most=10)) == {ONE: [0]}, "nothing is lost"
        assert client.calls[0] == ("seek", [(1, 0)])

    joined(work)


def test_only_the_partitions_that_move_are_given_back_and_the_group_waits_for_it(
    joined: Callable[[Work], None],
) -> None:
    async def work(consumer: GroupConsumer, client: FakeClient, listener: Listener) -> None:
        await consumer.fetch({ONE: 0, TWO: 0}, seconds=0, most=10)
        client.drain_calls()
        client.rebalance("on_revoke", ONE.number)
        client.coming.append(FakeMessage(2, 0))
        assert offsets(await consumer.fetch({ONE: 0, TWO: 0}, seconds=0, most=10)) == {TWO: [0]}
        assert listener.revoked == [ONE]
        assert client.drain_calls() == [("incremental_unassign", [1])]
        await consumer.fetch({ONE: 0, TWO: 1}, seconds=0, most=10)
        assert client.drain_calls() == [], "what is gone is not read"
        client.rebalance("on_assign", ONE.number)
        await consumer.fetch({TWO: 1}, seconds=0, most=10)
        client.calls.clear()
        await consumer.fetch({ONE: 0, TWO: 1}, seconds=0, most=10)
        assert client.calls[0] == ("seek", [(1, 0)]), "it comes back"

    joined(work)


def test_records_are_taken_some_time_after_the_last_ones(
    joined: Callable[[Work], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()

    async def work(consumer: GroupConsumer, client: FakeClient, _: Listener) -> None:
        def poll(seconds: float) -> FakeMessage:
            clock.now += waits.popleft()
            return FakeMessage(1, 0)

        waits = deque([0.125, 3.0, 0.0])  # until the first record is there
        monkeypatch.setattr(group_consumer, "time", clock)
        monkeypatch.setattr(client, "poll", poll)
        for rated in (0.0, 0.0, 0.5):
            consumer._fetched_at = clock.now
            clock.now += rated
            await consumer.fetch({ONE: 0}, seconds=9, most=10, pause=0.25)
        assert clock.pauses == [0.125]

    joined(work)


def test_the_group_is_answered_while_nothing_is_fetched(joined: Callable[[Work], None]) -> None:
    async def work(consumer: GroupConsumer, client: FakeClient, listener: Listener) -> None:
        client.rebalance("on_revoke", ONE.number)
        await consumer.stay_in_group()
        assert listener.revoked == [], "the last fetch was a moment ago"
        consumer._fetched_at -= 1000.0
        await consumer.stay_in_group()
        assert listener.revoked == [ONE]

    joined(work)


def test_a_process_ends_although_the_broker_does_not_let_the_consumer_go(
    joined: Callable[[Work], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_consumer, "CLOSE_SECONDS", 0.05)
    answers = threading.Event()
    known = set(threading.enumerate())

    async def work(consumer: GroupConsumer, client: FakeClient, _: Listener) -> None:
        monkeypatch.setattr(client, "close", answers.wait)
        await consumer.fetch({}, seconds=0, most=1)

    try:
        joined(work)
        assert all(each.daemon for each in set(threading.enumerate()) - known), "Python waits for other threads"
    finally:
        answers.set()


def test_records_become_columns_and_only_the_broker_s_time_counts() -> None:
    forwarded = [(FORWARDED_FROM, b"judgments.v1/1/7")]
    stamps = [(TIMESTAMP_CREATE_TIME, 5000), (TIMESTAMP_LOG_APPEND_TIME, 6000), (TIMESTAMP_NOT_AVAILABLE, 0)]
    messages = [FakeMessage(1, offset, stamp=stamp) for offset, stamp in enumerate(stamps)]
    messages.append(FakeMessage(1, 5, headers=forwarded))
    block = message_block(messages)
    assert list(block.offsets) == [0, 1, 2, 5]
    assert list(block.raw_keys) == [b"c"] * 4
    assert block.raw_values[3] == b"value 5"
    assert list(block.written_at) == [None, 6.0, None, None]
    assert block.forwarded == {5}
    assert [sent_at(each) for each in messages] == [5.0, 6.0, None, 5.0]


@pytest.mark.parametrize("error", [UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), SystemError()])
def test_a_header_whose_name_is_not_utf_8_is_nobody_s_copy(error: Exception) -> None:
    """librdkafka's Python client raises either of them, and ends the process if it is asked again."""

    class Damaged(FakeMessage):
        def headers(self) -> list[tuple[str, bytes]] | None:
            raise error

    block = message_block([FakeMessage(1, 0), Damaged(1, 1), FakeMessage(1, 2)])
    assert list(block.offsets) == [0, 1, 2]
    assert block.forwarded == frozenset()
