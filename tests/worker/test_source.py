"""The source gives partitions up in time, and a store that hangs meanwhile is no reason to stop the worker."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

import pytest
from aiokafka import TopicPartition

from streams.errors import WrongLog
from streams.metrics import WorkerMetrics
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.worker import source
from streams.worker.rater import Rater, Tenure
from streams.worker.status import Status


class HangingRater:
    async def open(self, tenure: Tenure) -> None:
        await asyncio.sleep(3600)


def test_a_partition_that_is_taken_away_while_its_store_hangs_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "GRACE_SECONDS", 0.05)

    async def rebalance() -> source.BatchSource:
        rater = cast("Rater", HangingRater())
        batches = source.BatchSource(Settings(), MemoryStore(), rater, cast("Any", None), Status(), WorkerMetrics())
        batches.begin([TopicPartition("judgments.v1", 0)])
        await asyncio.sleep(0)
        await batches.end()
        await asyncio.sleep(0)
        return batches

    assert not asyncio.run(rebalance()).crashed


class ShortLog:
    """A log that holds only the offsets from `begin` to `end`."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end

    async def beginning_offsets(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, self.begin)

    async def end_offsets(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, self.end)


def known(log: ShortLog, *, at: int, times: int = 1) -> list[bool]:
    """Say what the source says of a log, so many times, when the state is at an offset."""

    async def ask() -> list[bool]:
        nobody = cast("Any", None)
        batches = source.BatchSource(Settings(), MemoryStore(), nobody, nobody, Status(), WorkerMetrics())
        batches._consumer = cast("Any", log)
        options = ProcessorOptions.from_settings(Settings())
        open_processor = partial(Processor.open, "judgments.v1", 0, MemoryStore(), options)
        tenure = Tenure("judgments.v1", 0, open_processor)
        tenure.processor, _ = open_processor()
        tenure.processor.next_offset = tenure.processor.persisted_offset = at
        return [await batches._is_known(TopicPartition("judgments.v1", 0), tenure) for _ in range(times)]

    return asyncio.run(ask())


def test_a_log_without_its_beginning_opens_a_fresh_state_and_no_other() -> None:
    assert known(ShortLog(5, 9), at=0) == [True]
    with pytest.raises(WrongLog, match="it begins at offset 5, and the state ends at 3"):
        known(ShortLog(5, 9), at=3)


def test_a_log_that_ends_before_the_state_is_asked_again_and_then_refused() -> None:
    """A broker that has just started may not say all that it has."""
    assert known(ShortLog(0, 9), at=12, times=source.MOMENTS) == [False] * source.MOMENTS
    with pytest.raises(WrongLog, match="it ends at offset 9, and the state at 12"):
        known(ShortLog(0, 9), at=12, times=source.MOMENTS + 1)
