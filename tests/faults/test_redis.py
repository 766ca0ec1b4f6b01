"""A Redis that dies, forgets, fills up or loses its answers: the log repairs it, and nothing is applied twice."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from streams.wire.events import encode
from tests.builders import crowd_log
from tests.faults.proxy import Proxy
from tests.faults.stack import resident_mb
from tests.integration.test_worker import published

if TYPE_CHECKING:
    from deploy.servers import Servers
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration

AWAY_SECONDS = 60.0 if os.environ.get("CI") else 20.0


def test_kill_9_of_redis_loses_and_doubles_nothing(redis_stack: FaultStack, own: Servers) -> None:
    stack, records = redis_stack, published(8000, seed=21)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(400)
    own.kill("redis")
    own.start("redis")
    stack.caught_midway(len(records))
    stack.wait_until_read(len(records))
    assert worker.process.poll() is None
    stack.assert_undisturbed(records=len(records))


@pytest.mark.parametrize("when", ["in the middle", "when all is read", "while no worker runs"])
def test_a_redis_that_lost_its_last_writes_is_repaired_from_the_log(
    redis_stack: FaultStack, own: Servers, when: str
) -> None:
    stack, records = redis_stack, published(8000, seed=22)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(400)
    files = own.directory / "redis" / "appendonlydir"
    old = shutil.copytree(files, own.directory / "old")
    copied = stack.caught_midway(len(records))
    stack.wait_until_read(copied + 1000 if when == "in the middle" else len(records))
    stack.wait_for(lambda: sum(stack.acknowledged().values()) > copied, "Kafka's offsets are ahead of the copy")
    if when == "while no worker runs":
        worker.terminate()
    own.kill("redis")
    shutil.rmtree(files)
    old.rename(files)
    own.start("redis")
    if when == "while no worker runs":
        assert stack.caught_midway(len(records)) <= copied < sum(stack.acknowledged().values())
        worker = stack.start_worker()
    stack.wait_until_read(len(records))
    assert worker.process.poll() is None
    stack.assert_undisturbed(records=len(records))


@pytest.mark.parametrize("when", ["in the middle", "when all is read"])
def test_a_running_worker_comes_back_by_itself_after_flushall(redis_stack: FaultStack, when: str) -> None:
    stack, records = redis_stack, published(8000, seed=23)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(2000 if when == "in the middle" else len(records))
    stack.empty_redis()
    stack.wait_until_read(len(records))
    assert worker.process.poll() is None
    stack.assert_undisturbed(records=len(records))


def test_rebuild_after_flushall_gives_the_same(redis_stack: FaultStack) -> None:
    stack, records = redis_stack, published(3000, seed=24)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(len(records))
    before = stack.hash()
    worker.terminate()
    stack.empty_redis()
    rebuilt = stack.command("rebuild", "--all", "--yes")
    assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr
    assert stack.hash() == before
    stack.assert_undisturbed(records=len(records))


def test_lost_answers_apply_every_judgment_once(redis_stack: FaultStack) -> None:
    stack, records = redis_stack, published(3000, seed=25)
    stack.publish(records)
    address, _, port = stack.settings.redis.removesuffix("/0").rpartition(":")
    with Proxy(int(port), losing=(b"EVALSHA",)) as proxy:
        stack.more["JUDGESTREAM_REDIS"] = f"{address}:{proxy.port}/0"
        worker = stack.start_worker()
        stack.wait_until_read(len(records))
        assert worker.terminate() < 10
    batches = len(records) / stack.settings.batch_records
    assert proxy.lost[b"EVALSHA"] >= batches, "the answer to every batch should have been lost once"
    assert worker.said("does not answer")
    stack.assert_undisturbed(records=len(records))


def test_a_redis_that_is_away_is_waited_for_in_bounded_memory(redis_stack: FaultStack, own: Servers) -> None:
    stack = redis_stack
    # A judgment of 20 kB, most of it a field that is let through unread: the log outgrows what may be held.
    records = [
        (entry.campaign.encode(), encode(entry)[:-1] + b',"note":"%s"}' % (b"x" * 20_000))
        for entry in crowd_log(8000, campaigns=8, seed=26)
    ]
    stack.publish(records[:1000])
    worker = stack.start_worker()
    stack.wait_until_read(500)
    own.kill("redis")
    stack.wait_for(lambda: worker.said("does not answer"), "the worker says that it waits")
    assert worker.said("nothing is lost")
    began, before = time.monotonic(), resident_mb(worker)
    highest, sent = before, 1000
    while time.monotonic() < began + AWAY_SECONDS or sent < len(records):
        stack.publish(records[sent : sent + 500])
        sent += 500
        highest = max(highest, resident_mb(worker))
        time.sleep(0.2 if sent < len(records) else 1.0)
    assert worker.process.poll() is None
    grown = highest - before
    # One fetch of up to 8 MiB for each of the four partitions, twice: as it comes and as it waits.
    assert grown < 80, f"the worker grew by {grown:.0f} MB while the log grew by {7000 * 0.02:.0f} MB"
    own.start("redis")
    stack.caught_midway(len(records))
    stack.wait_until_read(len(records))
    stack.assert_undisturbed(records=len(records))


def test_a_full_redis_is_waited_for_and_holds_no_half_of_a_batch(redis_stack: FaultStack) -> None:
    stack, records = redis_stack, published(8000, seed=27)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(400)
    with stack.redis() as client:
        client.config_set("maxmemory", "1mb")
        stack.wait_for(lambda: worker.said("is full"), "the worker says that Redis is full")
        stack.caught_midway(len(records))
        assert worker.process.poll() is None
        assert worker.terminate() < 10
        client.config_set("maxmemory", "0")
        stack.assert_same(stack.undisturbed(stack.persisted()))
        client.config_set("maxmemory", "1mb")
        heir = stack.start_worker()
        stack.wait_for(lambda: heir.said("is full"), "the next worker says so too")
        client.config_set("maxmemory", "0")
    stack.wait_until_read(len(records))
    stack.assert_undisturbed(records=len(records))
