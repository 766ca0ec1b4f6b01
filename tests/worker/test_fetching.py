"""What a turn fetches: the records that waited while the last turn was rated, and those that have come since."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from streams.errors import BrokerUnavailable
from streams.kafka.partitions import Partition
from streams.settings import Settings
from streams.worker.ownership import PartitionOwnership
from streams.worker.turns import AT_ONCE_SECONDS, LARGE_TURN, WAIT_MS, Turns

ONE, TWO = Partition("judgments.v1", 1), Partition("judgments.v1", 2)

Fetched = dict[Partition, range]


class Records:
    """A consumer that returns records one call after the other. The first call may wait for the broker."""

    def __init__(self, *answers: Fetched | BrokerUnavailable, wait: float = 0.0) -> None:
        self.asked: list[int | None] = []
        self.owned: dict[Partition, PartitionOwnership] = {}
        self.expected: list[dict[Partition, int]] = []  # the next offsets at each call
        self.now = 0.0  # on the clock of the worker
        self.partitions: list[set[Partition]] = []  # of each call
        self.waits: list[int] = []
        self._answers = list(answers)
        self._wait = wait

    async def fetch(
        self, *partitions: Partition, timeout_ms: int, max_records: int | None = None
    ) -> dict[Partition, Any]:
        self.asked.append(max_records)
        self.partitions.append(set(partitions))
        self.waits.append(timeout_ms)
        self.expected.append({partition: ownership.read_offset for partition, ownership in self.owned.items()})
        self.now += self._wait
        found = self._answers.pop(0) if self._answers else {}
        if isinstance(found, BrokerUnavailable):
            raise found
        return {
            partition: [
                SimpleNamespace(offset=n, timestamp=1, timestamp_type=1, headers=(), key=b"c", value=b"")
                for n in offsets
            ]
            for partition, offsets in found.items()
        }


def turns_of(consumer: Records, **settings: Any) -> Turns:
    """Return the turns of two open partitions."""
    owned = consumer.owned = {partition: PartitionOwnership(partition) for partition in (ONE, TWO)}
    for ownership in owned.values():
        ownership.open(SimpleNamespace(next_offset=0))  # type: ignore[arg-type]
        ownership.most_records = 500
    assignment: Any = SimpleNamespace(owned=owned)
    none: Any = None
    return Turns(none, Settings(**settings), consumer, assignment, none)  # type: ignore[arg-type]


def fetch_next(turns: Turns, consumer: Records) -> dict[Partition, list[int]]:
    """Return the offsets of the next turn."""
    with patch("streams.worker.turns.monotonic", lambda: consumer.now):
        turn = asyncio.run(turns.fetch())
    assert turn is not None
    assert not any(batch.needs_check for batch in turn.batches)
    return {batch.ownership.partition: list(batch.records.offsets) for batch in turn.batches}


def fetch(consumer: Records, **settings: Any) -> dict[Partition, list[int]]:
    """Return the offsets of one turn."""
    return fetch_next(turns_of(consumer, **settings), consumer)


def test_records_that_came_while_a_turn_was_rated_are_in_the_next_one() -> None:
    found = fetch(Records({ONE: range(2)}, {ONE: range(2, 5), TWO: range(1)}))
    assert found == {ONE: [0, 1, 2, 3, 4], TWO: [0]}


def test_a_record_after_a_pause_does_not_wait_for_others() -> None:
    consumer = Records({ONE: range(1)}, {ONE: range(1, 2)}, wait=2 * AT_ONCE_SECONDS)
    assert fetch(consumer) == {ONE: [0]}
    assert len(consumer.asked) == 1


@pytest.mark.parametrize(("count", "limit"), [(LARGE_TURN // 2, 50_000), (3, 6)])
def test_a_large_turn_is_not_made_larger(count: int, limit: int) -> None:
    consumer = Records({ONE: range(count), TWO: range(count)}, {ONE: range(count, 2 * count)})
    assert fetch(consumer, batch_records=limit) == {ONE: list(range(count)), TWO: list(range(count))}


def test_no_more_records_than_allowed_are_added() -> None:
    consumer = Records({ONE: range(4)})
    fetch(consumer, batch_records=10)
    assert consumer.asked == [10, 6]


def test_the_next_offset_moves_before_more_records_are_awaited() -> None:
    """Otherwise a check of the partition would find the consumer ahead of it, and pass over what was fetched."""
    consumer = Records({ONE: range(3), TWO: range(2)}, {ONE: range(3, 4)})
    fetch(consumer)
    assert consumer.expected == [{ONE: 0, TWO: 0}, {ONE: 3, TWO: 2}]


def test_records_stay_if_the_broker_does_not_answer_the_second_time() -> None:
    assert fetch(Records({ONE: range(2)}, BrokerUnavailable("away"))) == {ONE: [0, 1]}


def test_what_is_too_large_for_one_batch_comes_in_the_next_turns_with_new_records_of_others() -> None:
    consumer = Records({ONE: range(1200)}, {TWO: range(3)}, {}, {ONE: range(1200, 1201)}, wait=2 * AT_ONCE_SECONDS)
    turns = turns_of(consumer)
    assert fetch_next(turns, consumer) == {ONE: list(range(400))}, "a third, rather than all that is allowed"
    assert consumer.owned[ONE].read_offset == 1200, "the consumer is there, and nothing was empty"
    assert fetch_next(turns, consumer) == {ONE: list(range(400, 800)), TWO: [0, 1, 2]}
    consumer.owned[ONE].most_records = 10_000
    assert fetch_next(turns, consumer) == {ONE: list(range(800, 1200))}
    assert fetch_next(turns, consumer) == {ONE: [1200]}
    assert consumer.partitions == [{ONE, TWO}, {TWO}, {TWO}, {ONE, TWO}]
    assert consumer.waits == [WAIT_MS, 0, 0, WAIT_MS], "what was fetched waits for no other record"


def test_the_rest_of_what_was_fetched_counts_for_the_size_of_a_turn() -> None:
    consumer = Records({ONE: range(700), TWO: range(100)}, wait=2 * AT_ONCE_SECONDS)
    turns = turns_of(consumer, batch_records=800)
    fetch_next(turns, consumer)
    assert fetch_next(turns, consumer) == {ONE: list(range(350, 700))}
    assert consumer.asked == [800, 450]


def test_the_rest_of_a_partition_that_is_given_up_stays_in_the_log() -> None:
    consumer = Records({ONE: range(700)}, {ONE: range(350, 600)}, wait=2 * AT_ONCE_SECONDS)
    turns = turns_of(consumer)
    fetch_next(turns, consumer)
    consumer.owned[ONE].end()
    again = consumer.owned[ONE] = PartitionOwnership(ONE)
    again.open(SimpleNamespace(next_offset=350))  # type: ignore[arg-type]
    assert fetch_next(turns, consumer) == {ONE: list(range(350, 600))}
    assert (consumer.partitions[-1], consumer.waits[-1]) == ({ONE, TWO}, WAIT_MS)


def test_the_rest_waits_while_a_batch_before_it_is_checked() -> None:
    consumer = Records({ONE: range(700)}, {TWO: range(2)}, wait=2 * AT_ONCE_SECONDS)
    turns = turns_of(consumer)
    fetch_next(turns, consumer)
    (before,) = turns.in_hand
    turns._alone[ONE] = before
    assert fetch_next(turns, consumer) == {TWO: [0, 1]}
    del turns._alone[ONE]
    assert fetch_next(turns, consumer) == {ONE: list(range(350, 700))}
