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
        await worker.rate(list(worker.inspector.logs[ONE].values())[:read])
    return worker


def test_the_end_of_a_transaction_is_passed_over() -> None:
    async def run() -> None:
        worker = await opened()
        ownership = worker.assignment.owned[ONE]
        await worker.assignment.pass_over_empty(ownership, end=13)
        assert ownership.read_offset == ownership.processor.persisted_offset == 13
        assert worker.store.read_partition(str(ONE))["empty"] == "3"

    asyncio.run(run())


def test_records_that_were_deleted_are_not_taken_for_empty_offsets() -> None:
    async def run() -> None:
        worker = await opened(read=5)
        ownership = worker.assignment.owned[ONE]
        worker.inspector.delete_before(10)
        with pytest.raises(LogGap):
            await worker.assignment.pass_over_empty(ownership, end=10)
        assert ownership.read_offset == ownership.processor.persisted_offset == 5

    asyncio.run(run())


def test_records_that_were_not_fetched_yet_are_not_passed_over() -> None:
    async def run() -> None:
        worker = await opened(read=5)
        ownership = worker.assignment.owned[ONE]
        await worker.assignment.pass_over_empty(ownership, end=10)
        assert ownership.read_offset == ownership.processor.persisted_offset == 5

    asyncio.run(run())


def test_a_batch_on_its_way_is_not_overtaken() -> None:
    async def run() -> None:
        worker = await opened(read=5)
        ownership = worker.assignment.owned[ONE]
        ownership.read_offset = 10
        await worker.assignment.pass_over_empty(ownership, end=13)
        assert ownership.processor.persisted_offset == 5

    asyncio.run(run())
