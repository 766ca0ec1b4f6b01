"""A worker rates a campaign again in the background: its neighbours go on, and nothing makes it begin anew."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from deploy.ports import free_port
from streams.kafka.partitions import partition_of
from streams.wire import events, topics
from streams.wire.events import Rejection, encode
from tests.builders import NOON, judgment
from tests.integration.monitors import monitor_on
from tests.integration.test_health import asked
from tests.integration.test_rebuild import expected_hash, found_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.stack import Stack, WorkerProcess

pytestmark = pytest.mark.integration

# Judgestream whose reruns read a few records at a time, store each step, and wait while a file is there. They read up
# to the record whose offset is in the file.
SLOW = """
import asyncio
import os
from pathlib import Path

from streams.cli.main import main
from streams.worker import reruns

reruns.STEP_RECORDS, reruns.STAGE_RECORDS, reruns.LAST_RECORDS = 10, 0, 0
held, step = Path(os.environ["HELD"]), reruns._Pass._step


async def wait_and_step(self):
    while held.exists() and self._position >= int(held.read_text()):
        await asyncio.sleep(0.01)
    await step(self)


reruns._Pass._step = wait_and_step
main()
"""
ROOT = str(Path(__file__).parents[2])
NAME = "mine"
STARTS = re.compile(r"rating again from offset (\d+)")


class Slow:
    """Workers whose reruns can be held at an offset of the log."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.file = stack.folder / "held"
        self.port = free_port(besides=())

    def start(self) -> WorkerProcess:
        more = {"PYTHONPATH": ROOT, "HELD": str(self.file), "JUDGESTREAM_HEALTH_PORT": str(self.port)}
        return self.stack.start_worker(script=SLOW, **more)

    def hold(self, offset: int) -> None:
        self.file.write_text(str(offset))

    def release(self) -> None:
        self.file.unlink()

    def ready(self) -> str:
        status, text = asked(self.port, "/readyz")
        return text if status == 200 else f"{status}: {text}"

    def wait_until_held(self, offset: int, end: int) -> None:
        share = f"{offset / end:.0%}"
        self.stack.wait_for(lambda: share in self.ready(), f"{share} is rated again: {self.ready()}")

    def wait_until_done(self) -> None:
        self.stack.wait_for(lambda: self.ready() == "ok", f"nothing is rated again: {self.ready()}")


@pytest.fixture
def slow(stack: Stack) -> Slow:
    return Slow(stack)


def neighbour(stack: Stack) -> str:
    partitions = stack.settings.partitions
    return next(name for name in map(str, count()) if partition_of(name, partitions) == partition_of(NAME, partitions))


def verdicts(start: int, end: int, *names: str) -> Iterator[tuple[bytes, bytes]]:
    systems = ("a", "b", "c", "d", "e")
    for number in range(start, end):
        for name in names:
            shown = (systems[number % 5], systems[(number + 1 + number // 5 % 3) % 5])
            entry = judgment(number, campaign=name, systems=shown, judge=f"j{number % 7}", segment=f"s{number % 11}")
            yield name.encode(), encode(entry)


def retraction(number: int, **what: object) -> tuple[bytes, bytes]:
    command = events.Retract(id=f"r{number}", campaign=NAME, at=NOON, **what)  # type: ignore[arg-type]
    return NAME.encode(), encode(command)


def judgments(stack: Stack, name: str) -> int:
    meta = stack.store.read_meta(name)
    return 0 if meta is None else meta.counts.judgments


def test_neighbours_are_applied_while_a_campaign_is_rated_again(stack: Stack, slow: Slow) -> None:
    other = neighbour(stack)
    slow.hold(100)
    slow.start()
    stack.publish([*verdicts(0, 100, NAME, other), retraction(1, judgments=["id-3", "id-50"], judge="j2")])
    slow.wait_until_held(100, 201)
    assert "ok, but 1 campaign is being rated again: mine (after a retraction: " in slow.ready()
    bad = encode(judgment(5000, campaign=NAME, systems=("a",), ranks=None, score=1.0))
    stack.publish([*verdicts(100, 150, NAME, other), (NAME.encode(), bad)])
    stack.wait_for(lambda: judgments(stack, other) == 150, "the neighbour is rated")
    stack.wait_until_read(302)
    meta = stack.store.read_meta(NAME)
    assert meta is not None
    assert (meta.counts.judgments, meta.counts.held) == (100, 52)
    assert asked(slow.port, "/healthz") == (200, "ok")
    assert "judgestream_worker_reruns 1.0" in asked(slow.port, "/metrics")[1]
    with monitor_on(stack) as monitor:
        stack.wait_for(monitor.is_ready, "the monitor is ready")
        overview = monitor.get(f"/campaigns/{NAME}")
        assert (overview["quarantine"]["cause"], overview["held"]) == ("retraction", 52)
        slow.release()
        slow.wait_until_done()
        stack.wait_for(lambda: monitor.get(f"/campaigns/{NAME}")["quarantine"] is None, "the monitor shows the end")
    assert found_hash(stack) == expected_hash(stack)
    meta = stack.store.read_meta(NAME)
    assert meta is not None
    assert (meta.counts.held, meta.counts.commands, meta.counts.rejected) == (0, 1, 1)
    (rejection,) = [msgspec.json.decode(value, type=Rejection) for value in stack.values(topics.REJECTED)]
    assert (rejection.offset, rejection.judgment) == (301, judgment(5000).id)
    stack.publish([*verdicts(150, 170, NAME, other)])
    stack.wait_until_read(342)
    assert found_hash(stack) == expected_hash(stack)


def test_a_killed_worker_s_rerun_goes_on_and_does_not_begin_again(stack: Stack, slow: Slow) -> None:
    other = neighbour(stack)
    slow.hold(120)
    first = slow.start()
    stack.publish([*verdicts(0, 100, NAME, other), retraction(1, judge="j3")])
    slow.wait_until_held(120, 201)
    first.process.kill()
    first.process.wait()
    slow.hold(160)
    second = slow.start()
    slow.wait_until_held(160, 201)
    took = second.terminate()
    assert second.process.returncode == 0
    assert took < 10
    slow.release()
    third = slow.start()
    stack.wait_until_read(201)
    stack.wait_for(lambda: judgments(stack, NAME) < 100, "the retraction is applied")
    slow.wait_until_done()
    assert found_hash(stack) == expected_hash(stack)
    began = [[int(offset) for offset in STARTS.findall(each.log.read_text())] for each in (first, second, third)]
    assert began == [[0], [120], [160]]


def test_sigterm_ends_the_worker_in_time_and_it_is_healthy_until_then(stack: Stack, slow: Slow) -> None:
    slow.hold(50)
    worker = slow.start()
    stack.publish([*verdicts(0, 100, NAME), retraction(1, judge="j3")])
    slow.wait_until_held(50, 101)
    assert asked(slow.port, "/healthz") == (200, "ok")
    assert worker.terminate() < 10
    assert worker.process.returncode == 0
    assert not worker.said("Traceback")


def test_eight_retractions_need_two_readings_of_the_log(stack: Stack, slow: Slow) -> None:
    other = neighbour(stack)
    slow.hold(100)
    worker = slow.start()
    stack.publish([*verdicts(0, 100, NAME, other), retraction(0, judgments=["id-1"])])
    slow.wait_until_held(100, 201)
    stack.publish([retraction(number, judgments=[f"id-{10 * number}"]) for number in range(1, 8)])
    stack.wait_until_read(208)
    slow.release()
    stack.wait_for(lambda: judgments(stack, NAME) == 92, "the retractions are applied")
    slow.wait_until_done()
    assert found_hash(stack) == expected_hash(stack)
    assert STARTS.findall(worker.log.read_text()) == ["0", "0"]


def test_a_campaign_with_a_malformed_row_is_repaired_and_the_others_are_served(stack: Stack, slow: Slow) -> None:
    other = neighbour(stack)
    worker = slow.start()
    stack.publish([*verdicts(0, 100, NAME, other)])
    stack.wait_until_read(200)
    worker.terminate()
    store = stack.store
    store.client.redis.hset(store.keys.campaign(NAME, "judges"), "j", "{")
    slow.hold(50)
    again = slow.start()
    slow.wait_until_held(50, 200)
    assert "mine (its stored state is corrupt: 25%)" in slow.ready()
    stack.publish([*verdicts(100, 150, NAME, other)])
    stack.wait_for(lambda: judgments(stack, other) == 150, "the neighbour is rated")
    told = stack.command("campaign", "show", NAME)
    assert "corrupt" in told.stdout
    slow.release()
    slow.wait_until_done()
    assert found_hash(stack) == expected_hash(stack)
    assert again.process.poll() is None


def test_a_rebuild_ends_a_rerun_that_is_in_progress(stack: Stack, slow: Slow) -> None:
    slow.hold(50)
    worker = slow.start()
    stack.publish([*verdicts(0, 100, NAME), retraction(1, judge="j3")])
    slow.wait_until_held(50, 101)
    bad = encode(judgment(5000, campaign=NAME, systems=("a",), ranks=None, score=1.0))
    stack.publish([(NAME.encode(), bad)])
    stack.wait_until_read(102)
    done = stack.command("rebuild", NAME, "--yes")
    assert done.returncode == 0, done.stderr
    assert found_hash(stack) == expected_hash(stack)
    slow.release()
    slow.wait_until_done()
    assert found_hash(stack) == expected_hash(stack)
    (rejection,) = {msgspec.json.decode(value, type=Rejection) for value in stack.values(topics.REJECTED)}
    assert rejection.offset == 101
    assert worker.process.poll() is None
