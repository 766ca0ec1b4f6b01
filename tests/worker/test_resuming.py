"""A partition that the group returns to its worker goes on with the state in memory, if nobody else has had it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from streams.core.campaign.campaign import Campaign
from streams.pipeline.processor import Processor
from streams.worker.ownership import PartitionOwnership
from tests.worker.test_stopped import ONE, TWO, Worker


def epoch(worker: Worker) -> int:
    return int(worker.store.read_partition(str(ONE))["epoch"])


def campaign(worker: Worker) -> Campaign:
    return worker.assignment.owned[ONE].processor.campaigns["c"]


async def rebalance(worker: Worker, *, meanwhile: Callable[[], object] = lambda: None) -> PartitionOwnership:
    """Revoke both partitions, as the source does, and assign them again. Return the former ownership of the first."""
    former = worker.assignment.owned[ONE]
    worker.assignment.close()
    async with worker.rater.turn:
        worker.assignment.keep()
    worker.assignment.end()
    meanwhile()
    worker.assignment.assign([ONE, TWO])
    await worker.until(lambda: worker.is_open(ONE) and worker.is_open(TWO))
    return former


async def started(worker: Worker) -> list[Any]:
    """Open the partitions and rate the first four records. Return the others."""
    await worker.open()
    records = list(worker.consumer.logs[ONE].values())
    await worker.rate(records[:4])
    return records[4:]


def test_a_partition_that_comes_back_goes_on_with_the_state_in_memory() -> None:
    async def run() -> None:
        worker = Worker()
        rest = await started(worker)
        known, before = campaign(worker), epoch(worker)
        former = await rebalance(worker)
        assert campaign(worker) is known
        assert epoch(worker) == before
        assert worker.consumer.positions[ONE] == 4
        assert not former.may_write
        await worker.rate(rest)
        assert worker.offset == 10

    asyncio.run(run())


def test_a_partition_that_another_worker_had_meanwhile_is_loaded_again() -> None:
    async def run() -> None:
        worker = Worker()
        rest = await started(worker)
        known, before = campaign(worker), epoch(worker)

        def other() -> None:
            processor, _ = Processor.open(ONE.topic, ONE.number, worker.store, worker.assignment._options)
            processor.process(rest[:3])

        await rebalance(worker, meanwhile=other)
        assert epoch(worker) == before + 2
        await worker.rate(rest[3:])
        assert worker.offset == 10
        assert campaign(worker) is not known
        assert campaign(worker).counts.judgments == 10

    asyncio.run(run())


def test_a_partition_whose_last_batch_was_not_written_is_loaded_again() -> None:
    async def run() -> None:
        worker = Worker()
        rest = await started(worker)
        worker.assignment.owned[ONE].processor.prepare(rest)
        await rebalance(worker)
        assert worker.consumer.positions[ONE] == 4
        await worker.rate(rest)
        assert campaign(worker).counts.judgments == 10

    asyncio.run(run())


def test_a_log_that_was_replaced_meanwhile_stops_a_partition_that_comes_back() -> None:
    async def run() -> None:
        worker = Worker()
        await started(worker)
        worker.assignment.close()
        worker.assignment.keep()
        worker.assignment.end()
        worker.consumer.logs[ONE] = {at: each._replace(value=b"{}") for at, each in worker.consumer.logs[ONE].items()}
        worker.assignment.assign([ONE])
        await worker.until(lambda: str(ONE) in worker.status.stopped)
        assert "another record" in worker.status.stopped[str(ONE)]

    asyncio.run(run())


def test_the_state_of_a_partition_that_another_worker_gets_is_not_kept() -> None:
    async def run() -> None:
        worker = Worker()
        await started(worker)
        worker.assignment.close()
        worker.assignment.keep()
        worker.assignment.end()
        worker.assignment.assign([TWO])
        assert ONE not in worker.assignment._kept

    asyncio.run(run())
