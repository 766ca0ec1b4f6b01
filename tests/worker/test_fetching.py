"""What a turn fetches: new records of all open partitions, and what was too large for the last turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME

from streams.kafka.partitions import Partition
from streams.settings import Settings
from streams.worker.ownership import PartitionOwnership
from streams.worker.turns import WAIT_SECONDS, Turns

TOPIC = "judgments.v1"
ONE, TWO = Partition(TOPIC, 1), Partition(TOPIC, 2)

Fetched = dict[Partition, range]


class FakeMessage:
    """A record without content, as librdkafka returns it."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes:
        return b"c"

    def value(self) -> bytes:
        return b""

    def timestamp(self) -> tuple[int, int]:
        return TIMESTAMP_CREATE_TIME, 1000

    def headers(self) -> None:
        return None


class Records:
    """A consumer that returns records one call after the other."""

    def __init__(self, *answers: Fetched) -> None:
        self.asked: list[int] = []
        self.owned: dict[Partition, PartitionOwnership] = {}
        self.starts: list[dict[Partition, int]] = []  # of each call
        self.waits: list[float] = []
        self.pauses: list[float] = []
        self.topics_checked: list[str] = []
        self.replaced: Partition | None = None
        self.meanwhile: Callable[[], object] = lambda: None
        self._answers = list(answers)

    async def fetch(
        self, starts: Mapping[Partition, int], *, seconds: float, most: int, pause: float = 0.0
    ) -> dict[Partition, list[FakeMessage]]:
        self.asked.append(most)
        self.starts.append(dict(starts))
        self.waits.append(seconds)
        self.pauses.append(pause)
        self.meanwhile()
        found = self._answers.pop(0) if self._answers else {}
        return {partition: [FakeMessage(offset) for offset in offsets] for partition, offsets in found.items()}

    async def check_topic(self, topic: str) -> None:
        self.topics_checked.append(topic)
        if self.replaced:
            self.owned[self.replaced].end()


class FakeClock:
    """Takes the place of `monotonic`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr("streams.worker.turns.monotonic", clock)
    return clock


def turns_of(consumer: Records, **settings: Any) -> Turns:
    """Return the turns of two open partitions."""
    owned = consumer.owned = {partition: PartitionOwnership(partition) for partition in (ONE, TWO)}
    for ownership in owned.values():
        ownership.open(SimpleNamespace(next_offset=0))  # type: ignore[arg-type]
        ownership.most_records = 500
    assignment: Any = SimpleNamespace(owned=owned, check_topic=consumer.check_topic)
    none: Any = None
    return Turns(none, Settings(**settings), consumer, assignment, none)  # type: ignore[arg-type]


def fetch_next(turns: Turns) -> dict[Partition, list[int]]:
    """Return the offsets of the next turn."""
    turn = asyncio.run(turns.fetch())
    assert turn is not None
    assert not any(batch.needs_check for batch in turn.batches)
    return {batch.ownership.partition: list(batch.records.offsets) for batch in turn.batches}


def test_all_open_partitions_are_fetched_from_where_they_are() -> None:
    consumer = Records({ONE: range(2), TWO: range(1)}, {ONE: range(2, 3)})
    turns = turns_of(consumer, batch_records=10)
    assert fetch_next(turns) == {ONE: [0, 1], TWO: [0]}
    assert fetch_next(turns) == {ONE: [2]}
    assert consumer.starts == [{ONE: 0, TWO: 0}, {ONE: 2, TWO: 1}]
    assert consumer.asked == [10, 10]


def test_the_topic_is_checked_before_records_after_a_pause_are_rated(clock: FakeClock) -> None:
    consumer = Records({ONE: range(1)}, {ONE: range(1, 2)}, {}, {ONE: range(2, 3), TWO: range(1)}, {TWO: range(1)})
    turns = turns_of(consumer)
    fetch_next(turns)
    assert consumer.topics_checked == [TOPIC], "the first records come after a pause"
    fetch_next(turns)
    clock.now += WAIT_SECONDS
    assert asyncio.run(turns.fetch()) is None
    assert consumer.topics_checked == [TOPIC]
    clock.now += 0.01
    consumer.replaced = ONE
    assert fetch_next(turns) == {TWO: [0]}, "what is read of another log is not rated"
    assert consumer.topics_checked == [TOPIC, TOPIC]


def test_the_topic_is_checked_after_a_turn_that_took_long(clock: FakeClock) -> None:
    """Nothing is fetched meanwhile, so no fetch was in vain."""
    consumer = Records({ONE: range(1)}, {ONE: range(1, 2)}, {ONE: range(2, 3)})
    turns = turns_of(consumer)
    fetch_next(turns)
    clock.now += 60.0
    fetch_next(turns)
    assert consumer.topics_checked == [TOPIC, TOPIC]
    fetch_next(turns)
    assert consumer.topics_checked == [TOPIC, TOPIC]


def test_the_topic_is_checked_after_turns_with_the_rest_of_a_fetch_and_nothing_new(clock: FakeClock) -> None:
    consumer = Records({ONE: range(1000)}, {}, {ONE: range(1000, 1001)})
    turns = turns_of(consumer)
    fetch_next(turns)
    clock.now += 60.0
    fetch_next(turns)
    fetch_next(turns)
    assert consumer.topics_checked == [TOPIC, TOPIC]


def test_what_was_fetched_of_a_partition_that_is_given_up_meanwhile_stays_in_the_log() -> None:
    consumer = Records({ONE: range(2), TWO: range(2)})
    turns = turns_of(consumer)
    consumer.meanwhile = consumer.owned[ONE].close
    assert fetch_next(turns) == {TWO: [0, 1]}
    assert consumer.owned[ONE].read_offset == 0


def test_what_is_too_large_for_one_batch_comes_in_the_next_turns_with_new_records_of_others() -> None:
    consumer = Records({ONE: range(1200)}, {TWO: range(3)}, {}, {ONE: range(1200, 1201)})
    turns = turns_of(consumer)
    assert fetch_next(turns) == {ONE: list(range(400))}, "a third, rather than all that is allowed"
    assert consumer.owned[ONE].read_offset == 1200, "the consumer is there, and nothing was empty"
    assert fetch_next(turns) == {ONE: list(range(400, 800)), TWO: [0, 1, 2]}
    consumer.owned[ONE].most_records = 10_000
    assert fetch_next(turns) == {ONE: list(range(800, 1200))}
    assert fetch_next(turns) == {ONE: [1200]}
    assert consumer.starts == [{ONE: 0, TWO: 0}, {ONE: 1200, TWO: 0}, {ONE: 1200, TWO: 3}, {ONE: 1200, TWO: 3}]
    assert consumer.pauses == [0.004, 0, 0, 0.004]
    assert consumer.waits == [WAIT_SECONDS, 0, 0, WAIT_SECONDS], "what was fetched waits for no other record"


def test_new_records_of_a_partition_come_after_its_rest() -> None:
    consumer = Records({ONE: range(700)}, {ONE: range(700, 800)})
    turns = turns_of(consumer)
    assert fetch_next(turns) == {ONE: list(range(350))}
    assert fetch_next(turns) == {ONE: list(range(350, 800))}
    assert consumer.starts == [{ONE: 0, TWO: 0}, {ONE: 700, TWO: 0}], "a partition that is left out is read again late"


def test_no_more_is_fetched_of_a_partition_with_a_large_rest_until_one_batch_takes_it() -> None:
    consumer = Records({ONE: range(2000)}, {}, {}, {}, {ONE: range(2000, 2001)})
    turns = turns_of(consumer, batch_records=700)
    sizes = [len(fetch_next(turns)[ONE]) for _ in range(5)]
    assert sizes == [500, 500, 500, 500, 1]
    assert [ONE in starts for starts in consumer.starts] == [True, False, False, True, True]


def test_rests_of_several_partitions_are_large_together() -> None:
    consumer = Records({ONE: range(1300), TWO: range(1300)})
    turns = turns_of(consumer, batch_records=850)
    for ownership in consumer.owned.values():
        ownership.most_records = 400
    sizes = [{partition.number: len(found) for partition, found in fetch_next(turns).items()} for _ in range(4)]
    assert sizes == [{1: 325, 2: 325}] * 4
    assert consumer.starts == [{ONE: 0, TWO: 0}, {ONE: 1300, TWO: 1300}]


@pytest.mark.parametrize("later", [range(698, 703), range(702, 705)], ids=["gone back", "a hole"])
def test_records_that_do_not_follow_the_rest_are_checked_after_it(later: range) -> None:
    """If they came together with it, what they say about the log could be lost among the offsets of both."""
    consumer = Records({ONE: range(700)}, {ONE: later}, {ONE: later})
    turns = turns_of(consumer)
    fetch_next(turns)
    assert fetch_next(turns) == {ONE: list(range(350, 700))}
    assert consumer.owned[ONE].read_offset == 700
    turn = asyncio.run(turns.fetch())
    assert turn is not None
    (batch,) = turn.batches
    assert (batch.start, list(batch.records.offsets), batch.needs_check) == (700, list(later), True)


def test_the_rest_of_what_was_fetched_counts_for_the_size_of_a_turn() -> None:
    consumer = Records({ONE: range(700), TWO: range(100)})
    turns = turns_of(consumer, batch_records=800)
    fetch_next(turns)
    assert fetch_next(turns) == {ONE: list(range(350, 700))}
    assert consumer.asked == [800, 450]


def test_the_rest_of_a_partition_that_is_given_up_stays_in_the_log() -> None:
    consumer = Records({ONE: range(700)}, {ONE: range(350, 600)})
    turns = turns_of(consumer)
    fetch_next(turns)
    consumer.owned[ONE].end()
    again = consumer.owned[ONE] = PartitionOwnership(ONE)
    again.open(SimpleNamespace(next_offset=350))  # type: ignore[arg-type]
    assert fetch_next(turns) == {ONE: list(range(350, 600))}
    assert (consumer.starts[-1], consumer.waits[-1]) == ({ONE: 350, TWO: 0}, WAIT_SECONDS)


def test_the_rest_waits_while_a_batch_before_it_is_checked() -> None:
    consumer = Records({ONE: range(700)}, {TWO: range(2)})
    turns = turns_of(consumer)
    fetch_next(turns)
    (before,) = turns.in_hand
    turns._alone[ONE] = before
    assert fetch_next(turns) == {TWO: [0, 1]}
    del turns._alone[ONE]
    assert fetch_next(turns) == {ONE: list(range(350, 700))}
