"""A worker that lost its partition sends no outputs if it knows, and reports those that it sent. The owner repeats."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import pytest

from streams.errors import BrokerUnavailable, Fenced
from streams.kafka.partitions import Partition
from streams.metrics import WorkerMetrics
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record, RecordBlock
from streams.settings import Settings
from streams.stores import Lease
from streams.stores.commit import Commit
from streams.stores.memory import MemoryStore
from streams.wire.events import CampaignStatus, Rating, encode
from streams.wire.outputs import Output
from streams.worker import rater
from streams.worker.batches import PartitionBatch
from streams.worker.late_outputs import repeat_after_late
from streams.worker.ownership import Abandoned, PartitionOwnership
from streams.worker.rater import Rater
from streams.worker.status import WorkerStatus
from tests.builders import judgment

HOME = Partition("judgments.v1", 0)
OPTIONS = ProcessorOptions.from_settings(Settings())


def opened(store: MemoryStore) -> PartitionOwnership:
    ownership = PartitionOwnership(HOME)
    ownership.open(Processor.open(HOME.topic, HOME.number, store, OPTIONS)[0])
    return ownership


def batch(ownership: PartitionOwnership, start: int, *systems: str) -> PartitionBatch:
    entries = [judgment(start + number, systems=(one, "z")) for number, one in enumerate(systems)]
    records = [Record(start + number, b"c", encode(entry)) for number, entry in enumerate(entries)]
    return PartitionBatch(ownership, start, RecordBlock.of(records))


class Sent:
    """Takes outputs as a broker does. Something may happen before it has them."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.meanwhile: Callable[[], object] | None = None

    async def __call__(self, outputs: Sequence[Output]) -> None:
        if self.meanwhile is not None:
            self.meanwhile()
        self.outputs += outputs

    def rater(self) -> Rater:
        return Rater(self, WorkerStatus(), WorkerMetrics())

    async def repeat(self, owner: PartitionOwnership) -> None:
        async def guard(_: PartitionOwnership, work: Awaitable[None]) -> None:
            await work

        await repeat_after_late(self.rater(), [owner], guard)

    def of(self, topic: str) -> list[bytes]:
        return [output.value for output in self.outputs if output.topic == topic]


def test_outputs_that_were_sent_in_time_are_not_reported() -> None:
    async def run() -> None:
        store, sent = MemoryStore(), Sent()
        await sent.rater().rate(batch(opened(store), 0, "a"))
        assert sent.of("ratings.v1")
        assert store.read_late(str(HOME)) == ""

    asyncio.run(run())


def test_a_late_worker_asks_first_and_sends_nothing_if_another_has_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rater, "LATE_SECONDS", -1.0)

    async def run() -> None:
        store, sent = MemoryStore(), Sent()
        ownership, persist = opened(store), store.persist

        def persist_and_lose(lease: Lease, commit: Commit) -> None:
            persist(lease, commit)
            store.open(str(HOME))

        monkeypatch.setattr(store, "persist", persist_and_lose)
        with pytest.raises(Fenced):
            await sent.rater().rate(batch(ownership, 0, "a"))
        assert sent.outputs == []
        assert store.read_late(str(HOME)) == ""

    asyncio.run(run())


@pytest.mark.parametrize("known", [True, False])
def test_outputs_that_were_sent_too_late_are_reported_and_the_owner_repeats_what_is_newer(known: bool) -> None:
    async def run() -> None:
        store, sent = MemoryStore(), Sent()
        former = opened(store)
        owners: list[PartitionOwnership] = []

        def take_over() -> None:
            owners.append(opened(store))
            if known:
                former.end()
            sent.meanwhile = None

        sent.meanwhile = take_over
        with pytest.raises(Fenced):
            await sent.rater().rate(batch(former, 0, "a"))
        (owner,) = owners
        report = store.read_late(str(HOME))
        assert report
        await sent.rater().rate(batch(owner, 1, "a", "b"))
        sent.outputs.clear()
        await sent.repeat(owner)
        ratings = [msgspec.json.decode(value, type=Rating) for value in sent.of("ratings.v1")]
        assert {rating.system: (rating.judgments, rating.offset) for rating in ratings} == {
            "a": (2, 2),
            "b": (1, 2),
            "z": (3, 2),
        }
        assert [msgspec.json.decode(value, type=CampaignStatus).campaign for value in sent.of("campaigns.v1")] == ["c"]
        assert len(sent.of("leaderboards.v1")) == 1
        assert store.read_late(str(HOME)) == ""
        sent.outputs.clear()
        await sent.repeat(owner)
        assert sent.outputs == [], "once is enough"

    asyncio.run(run())


def test_a_report_that_comes_while_outputs_are_repeated_is_not_lost() -> None:
    async def run() -> None:
        store, sent = MemoryStore(), Sent()
        owner = opened(store)
        await sent.rater().rate(batch(owner, 0, "a"))
        store.report_late(str(HOME))
        sent.meanwhile = lambda: store.report_late(str(HOME))
        await sent.repeat(owner)
        assert store.read_late(str(HOME)) != ""

    asyncio.run(run())


def test_a_report_that_can_not_be_read_is_the_trouble_of_its_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        store, sent = MemoryStore(), Sent()
        owner, failed = opened(store), []

        def read_late(_: str) -> str:
            raise ValueError("not text")

        async def guard(ownership: PartitionOwnership, work: Awaitable[None]) -> None:
            with pytest.raises(ValueError, match="not text"):
                await work
            failed.append(ownership)

        monkeypatch.setattr(store, "read_late", read_late)
        await repeat_after_late(sent.rater(), [owner], guard)
        assert failed == [owner]

    asyncio.run(run())


def test_an_emission_that_is_given_up_is_reported_too() -> None:
    """The broker may have a part of it."""

    async def run() -> None:
        store = MemoryStore()
        ownership = opened(store)

        async def send(_: object) -> None:
            opened(store)
            ownership.end()
            raise BrokerUnavailable("timed out")

        with pytest.raises((Fenced, Abandoned)):
            await Rater(send, WorkerStatus(), WorkerMetrics()).rate(batch(ownership, 0, "a"))
        assert store.read_late(str(HOME)) != ""

    asyncio.run(run())
