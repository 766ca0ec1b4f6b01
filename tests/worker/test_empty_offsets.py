"""Offsets at the end of the log that have no record are counted, so that they are no lag; a gap there is noticed."""

from __future__ import annotations

import asyncio

import pytest

from streams.errors import LogGap
from tests.worker.test_stopped import ONE, Worker


async def opened(*, read: int = 10) -> Worker:
    """A worker that has rated the records of a partition."""
    worker = Worker()
    await worker.open()
    if read:
        await worker.rate(list(worker.consumer.logs[ONE].values())[:read])
    return worker


def test_the_end_of_a_transaction_is_passed_over() -> None:
    async def run() -> None:
        worker = await opened()
        ownership = worker.assignment.owned[ONE]
        worker.consumer.positions[ONE] = 13
        await worker.assignment.pass_over_empty(ownership)
        assert ownership.read_offset == ownership.processor.persisted_offset == 13
        assert worker.store.read_partition(str(ONE))["empty"] == "3"

    asyncio.run(run())


def test_records_that_were_deleted_are_not_taken_for_empty_offsets() -> None:
    async def run() -> None:
        worker = await opened(read=5)
        ownership = worker.assignment.owned[ONE]
        worker.consumer.delete_before(8)
        worker.consumer.positions[ONE] = 8  # the consumer is reset to the beginning
        with pytest.raises(LogGap):
            await worker.assignment.pass_over_empty(ownership)
        assert ownership.read_offset == ownership.processor.persisted_offset == 5

    asyncio.run(run())


def test_a_batch_on_its_way_is_not_overtaken() -> None:
    async def run() -> None:
        worker = await opened(read=5)
        ownership = worker.assignment.owned[ONE]
        ownership.read_offset = worker.consumer.positions[ONE] = 10
        await worker.assignment.pass_over_empty(ownership)
        assert ownership.processor.persisted_offset == 5

    asyncio.run(run())
