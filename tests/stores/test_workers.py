"""The reports of the workers: the last one of each counts, its age is the store's, and an old one is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.stores.memory import MemoryStore
from streams.stores.redis.store import RedisStore
from streams.stores.workers import FORGET_SECONDS, SILENT_SECONDS, MemoryWorkers, WorkerReport

if TYPE_CHECKING:
    from streams.stores import Store

FULL = WorkerReport(
    worker="host/12",
    version="1.0",
    open=(0, 2),
    opening=(1,),
    stopped={3: "records are gone"},
    waiting={2: "a transaction is open"},
    away={"Kafka": "timed out"},
    rerun_progress={"c": 0.5},
    idle_seconds=0.5,
    working_seconds=1.5,
)


def age(store: Store, worker: str, seconds: float) -> None:
    """Make the report of a worker older."""
    if isinstance(store, MemoryStore):
        at, report = store._reports[worker]
        store._reports[worker] = at - seconds, report
    else:
        assert isinstance(store, RedisStore)
        key = store.keys.workers
        stored: bytes = store.client.redis.hget(key, worker)  # type: ignore[assignment]
        written, _, encoded = stored.partition(b" ")
        store.client.redis.hset(key, worker, b"%d %s" % (int(written) - seconds * 1000, encoded))


def test_a_report_comes_back_as_it_was_written_with_its_age(store: Store) -> None:
    assert store.read_workers() == []
    store.report_worker(FULL)
    (found,) = store.read_workers()
    assert 0 <= found.age < SILENT_SECONDS
    assert (found.open, found.opening, found.stopped, found.waiting) == ((0, 2), (1,), FULL.stopped, FULL.waiting)
    assert (found.away, found.rerun_progress, found.working_seconds) == (FULL.away, FULL.rerun_progress, 1.5)
    assert found.partitions == {0, 1, 2, 3}
    assert not found.is_silent


def test_the_last_report_of_each_worker_counts_and_one_that_stops_has_none(store: Store) -> None:
    for worker, partition in (("b/1", 1), ("a/1", 2), ("b/1", 3)):
        store.report_worker(WorkerReport(worker=worker, version="1.0", open=(partition,)))
    assert [(each.worker, each.open) for each in store.read_workers()] == [("a/1", (2,)), ("b/1", (3,))]
    store.remove_worker("b/1")
    store.remove_worker("nobody/1")
    assert [each.worker for each in store.read_workers()] == ["a/1"]


def test_a_worker_that_does_not_report_is_silent_and_later_forgotten(store: Store) -> None:
    store.report_worker(WorkerReport(worker="dead/1", version="1.0"))
    age(store, "dead/1", SILENT_SECONDS + 1)
    store.report_worker(WorkerReport(worker="well/1", version="1.0"))
    assert [(each.worker, each.is_silent) for each in store.read_workers()] == [("dead/1", True), ("well/1", False)]
    age(store, "dead/1", FORGET_SECONDS)
    assert [each.worker for each in store.read_workers()] == ["well/1"]
    if isinstance(store, RedisStore):
        store.report_worker(WorkerReport(worker="well/1", version="1.0"))
        assert store.client.redis.hkeys(store.keys.workers) == [b"well/1"], "a forgotten report takes no room"
        assert 0 < int(store.client.redis.pttl(store.keys.workers)) <= FORGET_SECONDS * 1000


def test_the_age_is_measured_on_the_clock_of_the_store() -> None:
    now = [100.0]
    workers = MemoryWorkers(clock=lambda: now[0])
    workers.report_worker(FULL)
    now[0] += 4.5
    assert workers.read_workers()[0].age == pytest.approx(4.5)
