"""A worker reports what it works on, also while its rating thread or its store hangs, and says goodbye."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from streams.errors import StoreUnavailable
from streams.metrics import WorkerMetrics
from streams.stores.memory import MemoryStore
from streams.worker.rater import Rater
from streams.worker.reporting import Reporter
from streams.worker.status import WorkerStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.stores.workers import WorkerReport
    from streams.wire.outputs import Output


async def until(condition: Callable[[], object]) -> None:
    while not condition():  # noqa: ASYNC110 - another thread makes it true
        await asyncio.sleep(0.01)


def test_a_report_names_the_partitions_the_servers_and_the_reruns() -> None:
    status = WorkerStatus(loop_ran_at=monotonic() - 3.0)
    status.stopped["staging.judgments.v1/2"] = "records are gone"
    status.waiting["staging.judgments.v1/0"] = "a transaction is open"
    status.mark_away("Kafka", "timed out")
    status.rerun_progress = {"c": 0.4}
    report = Reporter(MemoryStore(), status, lambda: {2: False, 1: False, 0: True}).report()
    assert (report.open, report.opening, report.stopped) == ((0,), (1,), {2: "records are gone"})
    assert (report.waiting, report.away) == ({0: "a transaction is open"}, {"Kafka": "timed out"})
    assert report.rerun_progress == {"c": 0.4}
    assert report.idle_seconds >= 3.0
    assert report.working_seconds is None


def test_it_reports_when_it_starts_and_removes_the_report_when_it_stops() -> None:
    store = MemoryStore()

    async def run() -> None:
        reporter = Reporter(store, WorkerStatus(), lambda: {0: True})
        await reporter.start()
        await until(store.read_workers)
        assert store.read_workers()[0].open == (0,)
        await reporter.stop()

    asyncio.run(run())
    assert store.read_workers() == []


def test_a_rating_thread_that_hangs_is_in_the_report() -> None:
    store, status = MemoryStore(), WorkerStatus()

    async def send(_: Sequence[Output]) -> None: ...

    async def run() -> None:
        rater = Rater(send, status, WorkerMetrics())
        reporter = Reporter(store, status, dict)
        released = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hang() -> None:
            asyncio.run_coroutine_threadsafe(released.wait(), loop).result()

        hanging = asyncio.create_task(rater.run(None, hang))
        await until(lambda: (reporter.report().working_seconds or 0.0) > 0.0)
        released.set()
        await hanging
        assert reporter.report().working_seconds is None
        rater.close()

    asyncio.run(run())


def test_a_store_that_does_not_answer_stops_neither_the_worker_nor_the_reports(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away(MemoryStore):
        attempts = 0

        def report_worker(self, report: WorkerReport) -> None:
            self.attempts += 1
            if self.attempts < 3:
                raise StoreUnavailable("Redis does not answer")
            super().report_worker(report)

    store = Away()
    monkeypatch.setattr("streams.worker.reporting.REPORT_SECONDS", 0.01)

    async def run() -> None:
        reporter = Reporter(store, WorkerStatus(), dict)
        await reporter.start()
        await until(store.read_workers)
        await reporter.stop()

    asyncio.run(run())
    assert [each.getMessage() for each in caplog.records if each.name == "streams.worker.reporting"] == [
        "this worker can't report to the monitor: Redis does not answer"
    ]
