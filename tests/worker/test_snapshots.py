"""The leaderboards of all partitions are emitted together, and one partition holds up no other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from streams.errors import Fenced, StoreUnavailable
from streams.metrics import WorkerMetrics
from streams.pipeline.leaderboards import DraftedBoard
from streams.pipeline.partition_boards import PartitionBoards
from streams.pipeline.processor import Processor
from streams.stores import Lease
from streams.wire import topics
from streams.wire.outputs import Output
from streams.worker import retrying, snapshots
from streams.worker.snapshots import Snapshots
from tests.worker.test_turns import ONE, TWO, Worker, batch

BOTH = ["campaign-1", "campaign-2"]


class Sending(Worker):
    """A worker whose leaderboards are known by the call that sent them."""

    def __init__(self) -> None:
        self.sent: list[list[str]] = []
        super().__init__()

    async def _send(self, outputs: Sequence[Output]) -> None:
        boards = [output for output in outputs if output.topic == topics.LEADERBOARDS.name]
        if boards:
            self.sent.append(sorted((output.key or b"").decode() for output in boards))
        await super()._send(outputs)

    async def rate_both(self, start: int = 0) -> None:
        await (await self.rate(batch(self.one, start, 3), batch(self.two, start, 3)))

    async def snapshot(self) -> None:
        await Snapshots(self.rater, WorkerMetrics()).emit([self.one, self.two], self.fail)


def test_the_leaderboards_of_all_partitions_are_sent_together_and_once() -> None:
    async def run() -> None:
        worker = Sending()
        await worker.rate_both()
        await worker.snapshot()
        await worker.snapshot()
        assert worker.sent == [BOTH]
        await worker.rate_both(3)
        await worker.snapshot()
        assert worker.sent == [BOTH, BOTH]
        assert worker.failed == []

    asyncio.run(run())


def test_idle_campaigns_are_looked_for_whether_a_leaderboard_changed_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        worker = Sending()
        await worker.rate_both()
        rested = []

        def rest(processor: Processor, _: float) -> tuple[Output, ...]:
            rested.append(processor)
            return ()

        monkeypatch.setattr(Processor, "rest", rest)
        await worker.snapshot()
        assert rested == [worker.one.processor, worker.two.processor]
        await worker.snapshot()
        assert rested == 2 * [worker.one.processor, worker.two.processor]

    asyncio.run(run())


def test_a_partition_with_a_new_owner_fails_alone_and_its_leaderboards_are_reported_as_late() -> None:
    async def run() -> None:
        worker = Sending()
        await worker.rate_both()
        worker.store.open(str(ONE))
        await worker.snapshot()
        assert [(partition, type(error)) for partition, error in worker.failed] == [(ONE, Fenced)]
        assert worker.sent == [BOTH]
        assert worker.store.read_late(str(ONE))
        assert not worker.store.read_late(str(TWO))

    asyncio.run(run())


def test_a_partition_that_is_over_sends_nothing() -> None:
    async def run() -> None:
        worker = Sending()
        await worker.rate_both()
        worker.one.end()
        await worker.snapshot()
        assert worker.sent == [["campaign-2"]]

    asyncio.run(run())


def test_a_partition_that_can_not_draft_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        worker = Sending()
        await worker.rate_both()
        plain = PartitionBoards.draft

        def draft(boards: PartitionBoards, names: Sequence[str]) -> tuple[list[Output], list[DraftedBoard], list[str]]:
            if "campaign-1" in names:
                raise MemoryError
            return plain(boards, names)

        monkeypatch.setattr(PartitionBoards, "draft", draft)
        await worker.snapshot()
        assert [(partition, type(error)) for partition, error in worker.failed] == [(ONE, MemoryError)]
        assert worker.sent == [["campaign-2"]]

    asyncio.run(run())


def test_many_leaderboards_are_settled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MOST_DRAFTS", 1)

    async def run() -> None:
        worker = Sending()
        await worker.rate_both()
        await worker.snapshot()
        assert worker.sent == [["campaign-1"], ["campaign-2"]]

    asyncio.run(run())


def test_a_store_that_is_away_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_PAUSE_SECONDS", 0.001)

    async def run() -> None:
        worker = Sending()
        await worker.rate_both()
        answer, away = worker.store.check_leases, [StoreUnavailable("away")]

        def check_leases(leases: Sequence[Lease]) -> list[Fenced | None]:
            if away:
                raise away.pop()
            return answer(leases)

        monkeypatch.setattr(worker.store, "check_leases", check_leases)
        await worker.snapshot()
        assert worker.sent == [BOTH]
        assert worker.failed == []
        assert not away

    asyncio.run(run())
