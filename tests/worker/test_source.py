"""The source gives partitions up in time, and a store that hangs meanwhile is no reason to stop the worker."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from streams.kafka.partitions import Partition
from streams.metrics import WorkerMetrics
from streams.pipeline.record import Record, RecordBlock
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.worker import source
from streams.worker.batches import PartitionBatch, Turn
from streams.worker.ownership import PartitionOwnership
from streams.worker.rater import Rater
from streams.worker.status import WorkerStatus
from streams.worker.turns import LARGE_TURN


class HangingRater:
    async def open(self, ownership: PartitionOwnership, open_processor: object) -> None:
        await asyncio.sleep(3600)


def hanging_source() -> source.BatchSource:
    rater = cast("Rater", HangingRater())
    return source.BatchSource(Settings(), MemoryStore(), rater, cast("Any", None), WorkerStatus(), WorkerMetrics())


def test_a_partition_that_is_taken_away_while_its_store_hangs_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "GRACE_SECONDS", 0.05)

    async def rebalance() -> source.BatchSource:
        batches = hanging_source()
        partitions = [Partition("judgments.v1", 0)]
        batches.on_assigned(partitions)
        await asyncio.sleep(0)
        await batches.on_revoked(partitions)
        await asyncio.sleep(0)
        return batches

    assert not asyncio.run(rebalance()).crashed


def test_a_rebalance_while_the_worker_stops_opens_no_partition() -> None:
    async def rebalance() -> None:
        batches = hanging_source()
        batches._stopped.set()
        batches.on_assigned([Partition("judgments.v1", 0)])
        assert list(batches._assignment.owned) == []

    asyncio.run(rebalance())


class Reading:
    """Turns that are always ready, and the channel that takes them."""

    def __init__(self, ownership: PartitionOwnership) -> None:
        records = RecordBlock.of([Record(n, b"c", b"{}") for n in range(LARGE_TURN)])
        self.batch = PartitionBatch(ownership, 0, records)
        self.taken: list[Turn] = []

    async def fetch(self) -> Turn:
        await asyncio.sleep(0)
        return Turn([self.batch])

    async def put(self, turn: Turn) -> None:
        self.taken.append(turn)


async def read_a_while(reading: Reading) -> list[Turn]:
    """Return the turns that are read while none is rated."""
    batches = hanging_source()
    vars(batches).update(_turns=reading, _channel=reading)
    task = asyncio.create_task(cast("Any", source.BatchSource._read).fun(batches))
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    return reading.taken


def test_the_next_batches_of_a_new_partition_are_cut_when_its_first_one_is_written() -> None:
    ownership = PartitionOwnership(Partition("judgments.v1", 0))
    assert len(asyncio.run(read_a_while(Reading(ownership)))) == 1, "nothing tells yet how many rows they write"
    ownership.limit_batches(1000, 10)
    assert len(asyncio.run(read_a_while(Reading(ownership)))) > 1


class NothingToRead:
    async def fetch(self) -> None:
        await asyncio.sleep(0)


def test_requests_that_are_awaited_are_chosen_beside_the_reading_and_not_twice_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "REQUEST_SECONDS", 0.0)
    partition, chosen = Partition("judgments.v1", 0), []

    class Choosing:
        async def choose_requests(self, ownership: PartitionOwnership) -> None:
            chosen.append(ownership)
            await asyncio.sleep(3600)

    async def run() -> None:
        batches, ownership = hanging_source(), PartitionOwnership(partition)
        requests = SimpleNamespace(are_awaited=False)
        ownership.open(cast("Any", SimpleNamespace(next_offset=0, requests=requests, quarantined={})))
        batches._assignment.owned[partition] = ownership
        consumer = SimpleNamespace(known_end=lambda _: 0)
        vars(batches).update(_rater=Choosing(), _consumer=consumer, _turns=NothingToRead())
        reading = asyncio.create_task(cast("Any", source.BatchSource._read).fun(batches))
        for is_awaited, expected in ((False, []), (True, [ownership])):
            requests.are_awaited = is_awaited
            for _ in range(20):
                await asyncio.sleep(0)
            assert chosen == expected
        reading.cancel()

    asyncio.run(run())
