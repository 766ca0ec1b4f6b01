"""A partition with a problem stops alone: it is looked at again, and goes on when the problem is gone or accepted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator
from itertools import repeat
from typing import Any, cast

import pytest

from streams.errors import BrokerUnavailable, JudgestreamError, StoreCorrupt, StoreNewer
from streams.kafka.partitions import Partition
from streams.metrics import WorkerMetrics
from streams.pipeline.record import Record, RecordBlock
from streams.settings import Settings
from streams.stores import Lease
from streams.stores.commit import PartitionState
from streams.stores.memory import MemoryStore
from streams.wire.events import encode
from streams.worker import assignment
from streams.worker.assignment import Assignment
from streams.worker.batches import PartitionBatch
from streams.worker.rater import Rater
from streams.worker.status import WorkerStatus
from tests.builders import judgment

ONE, TWO = Partition("judgments.v1", 0), Partition("judgments.v1", 1)


def log(count: int, *, seed: int = 0) -> dict[int, Record]:
    return {offset: Record(offset, b"c", encode(judgment(seed + offset))) for offset in range(count)}


class FakeService:
    """Runs the tasks of an assignment."""

    def __init__(self) -> None:
        self.crashed: BaseException | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def add_future(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def sleep(self, _: float) -> None:
        await asyncio.sleep(0.001)

    async def crash(self, error: BaseException) -> None:
        self.crashed = error


class FakeInspector:
    """Logs by partition, of which the beginning can be deleted."""

    def __init__(self) -> None:
        self.logs = {ONE: log(10), TWO: {}}
        self.ends = {ONE: 10, TWO: 0}
        self.topic_ids: Iterator[str] = repeat("the first")

    def delete_before(self, offset: int) -> None:
        self.logs[ONE] = {at: record for at, record in self.logs[ONE].items() if at >= offset}

    async def beginning_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return {partition: min(self.logs[partition], default=self.ends[partition]) for partition in partitions}

    async def end_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return {partition: self.ends[partition] for partition in partitions}

    async def find_topic_id(self, _: str) -> str:
        """Return the next id, or raise an error in the place of an empty one."""
        found = next(self.topic_ids)
        if not found:
            raise BrokerUnavailable("away")
        return found

    async def find_record(self, partition: Partition, offset: int, *, end: int) -> tuple[Record | None, int]:
        found = min((at for at in self.logs[partition] if at >= offset), default=None)
        return (None, end) if found is None else (self.logs[partition][found], found + 1)


class Worker:
    """An assignment between fakes and a memory store."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        self.store = store or MemoryStore()
        self.inspector, self.service, self.status = FakeInspector(), FakeService(), WorkerStatus()
        self.rater = Rater(self._send, self.status, WorkerMetrics())
        self.assignment = Assignment(
            cast("Any", self.service),
            Settings(),
            self.store,
            cast("Any", self.inspector),
            self.rater,
            self.status,
            WorkerMetrics(),
        )

    async def _send(self, _: object) -> None:
        return

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():  # noqa: ASYNC110 - nothing says when it holds
                await asyncio.sleep(0.001)

    def is_open(self, partition: Partition) -> bool:
        return partition in self.assignment.owned and self.assignment.owned[partition].is_open

    async def open(self) -> None:
        self.assignment.open([ONE, TWO])
        await self.until(lambda: self.is_open(TWO) and (self.is_open(ONE) or str(ONE) in self.status.stopped))

    async def rate(self, records: Iterable[Record]) -> None:
        """Rate records as the source does."""
        ownership = self.assignment.owned[ONE]
        batch = PartitionBatch(ownership, ownership.read_offset, RecordBlock.of(records))
        ownership.read_offset = batch.records.offsets[-1] + 1
        await self.assignment.guard(ownership, self.assignment.rate(batch))

    @property
    def offset(self) -> int:
        return int(self.store.read_partition(str(ONE)).get("offset", 0))


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOOK_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(assignment, name, 0.001)


def test_a_gap_found_at_opening_stops_one_partition_until_it_is_accepted(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        worker = Worker()
        worker.inspector.delete_before(4)
        with caplog.at_level(logging.INFO):
            await worker.open()
            assert worker.is_open(TWO)
            assert not worker.is_open(ONE)
            assert "--accept judgments.v1/0:0-4" in worker.status.stopped[str(ONE)]
            await worker.until(lambda: len(worker.store.read_gaps(str(ONE))) == 1)
            assert worker.store.accept_gap(str(ONE), 0, 4)
            await worker.until(lambda: worker.is_open(ONE))
        assert worker.status.stopped == {}
        assert worker.assignment.owned[ONE].read_offset == worker.offset == 4
        assert worker.store.read_partition(str(ONE))["missing"] == "4"
        await worker.rate(worker.inspector.logs[ONE].values())
        assert worker.offset == 10

    asyncio.run(run())
    said = [record.message for record in caplog.records if "judgments.v1/0" in record.message]
    assert [line.split(":")[0] for line in said] == [
        "judgments.v1/0 is stopped, the other partitions go on",
        "judgments.v1/0",
        "judgments.v1/0 goes on at offset 4",
    ], "one line when it stops, and not one for each look"


def test_more_records_that_are_deleted_need_a_new_word() -> None:
    async def run() -> None:
        worker = Worker()
        worker.inspector.delete_before(4)
        await worker.open()
        worker.inspector.delete_before(6)
        await worker.until(lambda: "0-6" in worker.status.stopped[str(ONE)])
        await worker.until(lambda: [gap.end for gap in worker.store.read_gaps(str(ONE))] == [6])
        assert not worker.store.accept_gap(str(ONE), 0, 4)
        assert not worker.is_open(ONE)

    asyncio.run(run())


def test_nothing_after_a_gap_is_rated_and_what_was_fetched_before_it_is() -> None:
    async def run() -> None:
        worker = Worker()
        await worker.open()
        fetched = list(worker.inspector.logs[ONE].values())
        worker.inspector.delete_before(7)
        await worker.rate([*fetched[:3], *fetched[7:]])
        assert worker.offset == 3
        assert "--accept judgments.v1/0:3-7" in worker.status.stopped[str(ONE)]
        await worker.until(lambda: len(worker.store.read_gaps(str(ONE))) == 1)
        worker.store.accept_gap(str(ONE), 3, 7)
        await worker.until(lambda: worker.is_open(ONE))
        await worker.rate(fetched[7:])
        head = worker.store.read_partition(str(ONE))
        assert [head[name] for name in ("offset", "read", "missing", "empty")] == ["10", "6", "4", "0"]

    asyncio.run(run())


def test_a_hole_after_the_beginning_of_the_log_is_empty() -> None:
    async def run() -> None:
        worker = Worker()
        await worker.open()
        fetched = list(worker.inspector.logs[ONE].values())
        del worker.inspector.logs[ONE][4], worker.inspector.logs[ONE][5]  # as the markers of a transaction
        await worker.rate([*fetched[:4], *fetched[6:]])
        head = worker.store.read_partition(str(ONE))
        assert [head[name] for name in ("offset", "read", "missing", "empty")] == ["10", "8", "0", "2"]
        assert worker.status.stopped == {}

    asyncio.run(run())


def test_another_log_stops_the_partition_until_the_old_one_is_back() -> None:
    async def run() -> None:
        worker = Worker()
        await worker.open()
        old = worker.inspector.logs[ONE]
        await worker.rate(old.values())
        worker.inspector.logs[ONE] = log(12, seed=100)
        await worker.rate(list(worker.inspector.logs[ONE].values())[:2])
        assert "is not the log" in worker.status.stopped[str(ONE)]
        assert worker.offset == 10
        assert worker.service.crashed is None
        worker.inspector.logs[ONE] = old
        await worker.until(lambda: worker.is_open(ONE))
        assert worker.status.stopped == {}

    asyncio.run(run())


def test_another_log_that_goes_on_where_the_old_one_ended_is_refused_by_the_id_of_its_topic() -> None:
    async def run() -> None:
        worker = Worker()
        await worker.open()
        await worker.rate(worker.inspector.logs[ONE].values())
        await worker.assignment.check_topic(ONE.topic)
        assert worker.is_open(ONE)
        worker.inspector.logs[ONE], worker.inspector.ends[ONE] = log(15, seed=100), 15
        worker.inspector.topic_ids = iter(["", "another"])
        await worker.assignment.check_topic(ONE.topic)
        await worker.until(lambda: str(ONE) in worker.status.stopped and worker.is_open(TWO))
        assert "is not the log" in worker.status.stopped[str(ONE)]
        assert worker.offset == 10

    asyncio.run(run())


def test_a_state_that_was_dropped_by_an_operator_is_made_again_from_the_new_log() -> None:
    async def run() -> None:
        worker = Worker()
        await worker.open()
        await worker.rate(worker.inspector.logs[ONE].values())
        worker.inspector.logs[ONE] = log(12, seed=100)
        await worker.rate(list(worker.inspector.logs[ONE].values())[:2])
        worker.store._partitions.clear()
        worker.store._campaigns.clear()
        await worker.until(lambda: worker.is_open(ONE))
        assert worker.assignment.owned[ONE].read_offset == 0

    asyncio.run(run())


class UnreadableStore(MemoryStore):
    """A store whose first partition can't be read, until it is `readable`."""

    readable = False

    def __init__(self, error: JudgestreamError) -> None:
        super().__init__()
        self._error = error

    def open(self, partition: str) -> tuple[Lease, PartitionState]:
        if partition == str(ONE) and not self.readable:
            raise self._error
        return super().open(partition)


@pytest.mark.parametrize("kind", [StoreNewer, StoreCorrupt])
def test_a_head_that_cannot_be_read_stops_the_partition_until_it_can(kind: type[JudgestreamError]) -> None:
    async def run() -> None:
        store = UnreadableStore(kind("the head can't be read. Update this worker"))
        worker = Worker(store)
        await worker.open()
        assert worker.status.stopped == {str(ONE): "the head can't be read. Update this worker"}
        assert worker.service.crashed is None
        store.readable = True
        await worker.until(lambda: worker.is_open(ONE))
        assert worker.status.stopped == {}

    asyncio.run(run())


def test_undecodable_records_stop_their_partition_once_and_a_restart_stops_there_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rubbish = [Record(offset, b"c", b"\xff") for offset in range(10, 1011)]

    async def run() -> None:
        worker = Worker()
        await worker.open()
        await worker.rate(worker.inspector.logs[ONE].values())
        await worker.rate(rubbish)
        assert "max_undecodable_in_a_row" in worker.status.stopped[str(ONE)]
        assert worker.service.crashed is None
        assert worker.is_open(TWO)
        assert not worker.is_open(ONE)
        assert worker.assignment.owned[ONE].is_loaded, "its lag is shown"
        assert worker.offset == 10
        again = Worker(worker.store)
        await again.open()
        await again.rate(rubbish)
        assert again.status.stopped == worker.status.stopped

    with caplog.at_level(logging.INFO):
        asyncio.run(run())
    assert sum("is stopped, the other partitions go on" in record.message for record in caplog.records) == 2


def test_a_stopped_partition_can_be_taken_away() -> None:
    async def run() -> None:
        worker = Worker()
        worker.inspector.delete_before(4)
        await worker.open()
        async with asyncio.timeout(30):
            await asyncio.gather(*worker.assignment.close([ONE, TWO]))
        worker.assignment.end([ONE, TWO])
        assert worker.status.stopped == {}
        await asyncio.sleep(0.01)
        assert worker.assignment.owned == {}
        assert worker.status.stopped == {}

    asyncio.run(run())
