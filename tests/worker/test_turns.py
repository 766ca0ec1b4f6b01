"""A turn has batches of several partitions: none holds up another, and at most one turn is not emitted yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from streams.errors import Fenced, StoreUnavailable
from streams.kafka.partitions import Partition
from streams.metrics import WorkerMetrics
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record, RecordBlock
from streams.settings import Settings
from streams.stores import Lease
from streams.stores.commit import MOST_ROWS, Commit
from streams.stores.memory import MemoryStore
from streams.wire.events import encode
from streams.wire.outputs import Output
from streams.worker import retrying
from streams.worker.batches import PartitionBatch
from streams.worker.ownership import FEWEST_RECORDS, FIRST_RECORDS, MOST_TIMES, PartitionOwnership
from streams.worker.rater import Rater
from streams.worker.status import WorkerStatus
from tests.builders import judgment

ONE, TWO = Partition("judgments.v1", 1), Partition("judgments.v1", 2)
OPTIONS = ProcessorOptions.from_settings(Settings(judge_key="key"))


class Worker:
    """A rater of two partitions, and a broker that may keep it waiting."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.outputs: list[Output] = []
        self.broker = asyncio.Event()
        self.broker.set()
        self.failed: list[tuple[Partition, Exception]] = []
        self.rater = Rater(self._send, WorkerStatus(), WorkerMetrics())
        self.one, self.two = self._open(ONE), self._open(TWO)

    async def _send(self, outputs: Sequence[Output]) -> None:
        await self.broker.wait()
        self.outputs += outputs

    async def fail(self, ownership: PartitionOwnership, error: Exception) -> None:
        self.failed.append((ownership.partition, error))

    def _open(self, partition: Partition) -> PartitionOwnership:
        ownership = PartitionOwnership(partition)
        ownership.open(Processor.open(partition.topic, partition.number, self.store, OPTIONS)[0])
        return ownership

    async def rate(self, *batches: PartitionBatch) -> asyncio.Task[None]:
        return await self.rater.rate_all(batches, self.fail)

    def offset(self, partition: Partition) -> int:
        return int(self.store.read_partition(str(partition)).get("offset", 0))

    def rated(self) -> set[str]:
        return {(output.key or b"").decode().partition("/")[0] for output in self.outputs}


def batch(ownership: PartitionOwnership, start: int, count: int = 1) -> PartitionBatch:
    campaign = f"campaign-{ownership.partition.number}"
    records = [Record(n, b"c", encode(judgment(n, campaign=campaign))) for n in range(start, start + count)]
    return PartitionBatch(ownership, start, RecordBlock.of(records))


def test_a_partition_that_is_fenced_or_at_another_offset_holds_up_no_other() -> None:
    async def run() -> None:
        worker = Worker()
        worker.store.open(str(ONE))  # another worker has taken it over
        await (await worker.rate(batch(worker.one, 0), batch(worker.two, 0, 3)))
        assert [(partition, type(error)) for partition, error in worker.failed] == [(ONE, Fenced)]
        assert (worker.offset(ONE), worker.offset(TWO)) == (0, 3)
        assert worker.rated() == {"campaign-2"}
        await (await worker.rate(batch(worker.two, 7)))
        assert worker.failed[-1][0] == TWO
        assert worker.offset(TWO) == 3

    asyncio.run(run())


def test_the_next_turn_is_persisted_when_the_broker_has_the_outputs_of_the_last() -> None:
    async def run() -> None:
        worker = Worker()
        worker.broker.clear()
        first = await worker.rate(batch(worker.one, 0, 2))
        next_turn = asyncio.create_task(worker.rate(batch(worker.one, 2), batch(worker.two, 0)))
        async with asyncio.timeout(30):
            while worker.one.processor.next_offset < 3:  # noqa: ASYNC110 - nothing says when it is rated
                await asyncio.sleep(0.001)
        assert not next_turn.done()
        assert (worker.offset(ONE), worker.offset(TWO), worker.outputs) == (2, 0, [])
        worker.broker.set()
        await first
        await (await next_turn)
        assert (worker.offset(ONE), worker.offset(TWO)) == (3, 1)
        assert worker.rated() == {"campaign-1", "campaign-2"}

    asyncio.run(run())


def test_nothing_takes_the_place_of_an_outbox_before_the_broker_has_its_outputs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def at_once(_: Rater, work: Callable[[], object], __: object) -> object:
        return work()

    monkeypatch.setattr(Rater, "_in_thread", at_once)

    async def run() -> None:
        worker = Worker()
        worker.broker.clear()
        bad = PartitionBatch(worker.one, 0, RecordBlock.of([Record(0, b"c", b"no JSON")]))
        emission = await worker.rate(bad)
        passing = asyncio.create_task(worker.rater.pass_over(worker.one, 5))
        for _ in range(20):
            await asyncio.sleep(0)
        assert worker.offset(ONE) == 1
        assert worker.store.open(str(ONE))[1].outbox, "a new owner would emit the rejection"
        passing.cancel()
        worker.broker.set()
        await emission

    asyncio.run(run())


def test_a_store_that_is_away_is_asked_again_and_nothing_is_rated_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_PAUSE_SECONDS", 0.001)

    async def run() -> None:
        worker = Worker()
        persist, away = worker.store.persist, 3

        def persist_later(lease: Lease, commit: Commit) -> None:
            nonlocal away
            if lease.partition == str(TWO) and away:
                away -= 1
                raise StoreUnavailable("away")
            persist(lease, commit)

        monkeypatch.setattr(worker.store, "persist", persist_later)
        await (await worker.rate(batch(worker.one, 0, 2), batch(worker.two, 0, 2)))
        assert (worker.offset(ONE), worker.offset(TWO), worker.failed) == (2, 2, [])
        for name, ownership in (("campaign-1", worker.one), ("campaign-2", worker.two)):
            assert ownership.processor.campaigns[name].counts.judgments == 2

    asyncio.run(run())


def test_partitions_that_are_given_up_while_the_store_is_away_end_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_PAUSE_SECONDS", 0.001)

    async def run() -> None:
        worker = Worker()

        def give_up(lease: Lease, commit: Commit) -> None:
            worker.one.end()
            raise StoreUnavailable("away")

        monkeypatch.setattr(worker.store, "persist", give_up)
        async with asyncio.timeout(30):
            await (await worker.rate(batch(worker.one, 0)))
        assert worker.offset(ONE) == 0
        assert worker.outputs == []

    asyncio.run(run())


def test_the_next_batch_has_fewer_records_if_one_campaign_writes_many_rows() -> None:
    def new_systems(ownership: PartitionOwnership, campaigns: int) -> PartitionBatch:
        names = [f"campaign-{campaigns}-{number}" for number in range(campaigns)]
        log = [judgment(n, campaign=names[n % campaigns], systems=(f"a-{n}", f"b-{n}")) for n in range(400)]
        records = [Record(n, b"c", encode(each)) for n, each in enumerate(log)]
        return PartitionBatch(ownership, 0, RecordBlock.of(records))

    async def run() -> None:
        worker = Worker()
        assert worker.one.most_records == FIRST_RECORDS
        await (await worker.rate(new_systems(worker.one, 1), new_systems(worker.two, 10)))
        rows = sum(map(len, worker.store._campaigns["campaign-1-0"].tables.values()))
        assert worker.one.most_records == 400 * MOST_ROWS // rows
        assert worker.two.most_records == FIRST_RECORDS, "the rows of several campaigns are not added"

    asyncio.run(run())


def test_a_batch_is_limited_to_a_number_of_records_that_is_worth_a_turn() -> None:
    ownership = PartitionOwnership(ONE)
    ownership.limit_batches(1, 10 * MOST_ROWS)
    assert ownership.most_records == FEWEST_RECORDS


def test_batches_that_write_few_rows_raise_the_limit() -> None:
    """Rows of few systems are few, however many judgments there are."""
    ownership = PartitionOwnership(ONE)
    ownership.limit_batches(FIRST_RECORDS, MOST_ROWS // 3)
    assert ownership.most_records == 3 * FIRST_RECORDS
    ownership.limit_batches(1, 14)  # a small batch
    assert ownership.most_records == 3 * FIRST_RECORDS
    ownership.limit_batches(FIRST_RECORDS, 0)  # duplicates
    assert ownership.most_records == MOST_TIMES * FIRST_RECORDS


def test_a_limit_stays_while_batches_write_as_many_rows_as_they_should() -> None:
    ownership = PartitionOwnership(ONE)
    for records, rows in ((2000, 2 * MOST_ROWS), (1000, MOST_ROWS), (500, MOST_ROWS // 2), (100, MOST_ROWS // 3)):
        ownership.limit_batches(records, rows)
        assert ownership.most_records == 1000
