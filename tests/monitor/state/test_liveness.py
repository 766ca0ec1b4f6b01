"""A dead or stuck worker is found within ten seconds, with what to do, and nobody is suspected without a reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from streams.monitor.backends.base import Lag
from streams.monitor.state.liveness import (
    FORWARDED_SECONDS,
    OPENING_SECONDS,
    PAUSE_SECONDS,
    Findings,
    Liveness,
)
from streams.stores.workers import FORGET_SECONDS, MemoryWorkers, WorkerReport

PROMISED_SECONDS = 10.0
LOOKS = 1.0  # seconds between two looks


@dataclass
class Scene:
    """A log with two partitions, workers that report every two seconds, and a monitor that looks every second."""

    now: float = 1000.0
    ends: dict[int, int] = field(default_factory=lambda: {0: 100, 1: 100})
    applied: dict[int, int] = field(default_factory=lambda: {0: 100, 1: 100})
    lag: dict[str, Any] = field(default_factory=dict)
    reporting: dict[str, WorkerReport] = field(default_factory=dict)
    found: Findings = field(default_factory=Findings)

    def __post_init__(self) -> None:
        self.liveness = Liveness()
        self.workers = MemoryWorkers(clock=lambda: self.now)

    def report(self, worker: str, **fields: Any) -> None:
        self.reporting[worker] = WorkerReport(worker=worker, version="1.0", **fields)
        self.workers.report_worker(self.reporting[worker])

    def kill(self, worker: str) -> None:
        """The worker reports no more."""
        del self.reporting[worker]

    def look(self) -> Findings:
        lags = [
            Lag(
                partition=number,
                end=end,
                readable=end,
                applied=self.applied[number],
                lag=end - self.applied[number],
                **self.lag,
            )
            for number, end in self.ends.items()
        ]
        self.found = self.liveness.judge(self.now, lags, self.workers.read_workers())
        return self.found

    def wait(self, seconds: float) -> Findings:
        """Look every second for some time."""
        for _ in range(round(seconds / LOOKS)):
            self.now += LOOKS
            if round(self.now) % 2 == 0:
                for report in self.reporting.values():
                    self.workers.report_worker(report)
            self.look()
        return self.found

    def seconds_until_found(self) -> float:
        """Return after how many seconds there is a problem."""
        began = self.now
        while not self.wait(LOOKS).problems:
            assert self.now - began < 60, "no problem was found"
        return self.now - began

    @property
    def kinds(self) -> list[str]:
        return [problem.kind for problem in self.found.problems]


@pytest.fixture
def scene() -> Scene:
    """One worker has both partitions, and nothing waits."""
    scene = Scene()
    scene.report("host/1", open=(0, 1))
    scene.look()
    assert scene.wait(20) == Findings()
    return scene


def only(found: Findings) -> str:
    (problem,) = found.problems
    return str(problem)


def test_a_killed_worker_is_found_in_ten_seconds_and_another_one_ends_it(scene: Scene) -> None:
    scene.kill("host/1")
    scene.ends = {0: 400, 1: 300}
    assert scene.seconds_until_found() <= PROMISED_SECONDS
    assert only(scene.found) == (
        "The worker host/1 does not report any more. It was killed, or it hangs. "
        "500 records wait in partitions 0 and 1. "
        "Start a worker: judgestream worker. If its process still runs, look at its log and end it."
    )
    assert scene.found.stalled == {0, 1}
    scene.report("host/2", open=(0, 1))
    assert scene.wait(1).problems == ()
    scene.applied = dict(scene.ends)
    assert scene.wait(FORGET_SECONDS) == Findings(), "the dead one is forgotten"


def test_a_killed_worker_is_found_also_if_nothing_waits_yet(scene: Scene) -> None:
    scene.kill("host/1")
    assert scene.seconds_until_found() <= PROMISED_SECONDS
    assert "It has partitions 0 and 1. Nothing waits yet." in only(scene.found)
    assert scene.found.stalled == frozenset()


def test_of_two_workers_one_is_killed_and_its_partition_waits_to_be_taken_over(scene: Scene) -> None:
    scene.report("host/1", open=(0,))
    scene.report("host/2", open=(1,))
    scene.wait(2)
    scene.kill("host/2")
    scene.ends[1] = 101
    assert scene.seconds_until_found() <= PROMISED_SECONDS
    assert "1 record waits in partition 1. Waiting for another worker to take over" in only(scene.found)
    scene.report("host/1", open=(0,), opening=(1,))
    assert scene.wait(1).problems == (), "it is taken over, and the state is loaded"
    assert [note.kind for note in scene.found.notes] == ["worker_silent"]


def test_a_worker_that_stopped_in_order_is_missed_only_if_records_wait(scene: Scene) -> None:
    scene.kill("host/1")
    scene.workers.remove_worker("host/1")
    assert scene.wait(30).problems == ()
    assert [str(note) for note in scene.found.notes] == [
        "No worker is running. Nothing waits. Start a worker: judgestream worker."
    ]
    scene.ends[0] += 500
    assert scene.seconds_until_found() <= PROMISED_SECONDS
    assert only(scene.found) == (
        "No worker is running, and records wait. Nothing is lost. 500 records wait in partition 0. "
        "Start a worker: judgestream worker."
    )


def test_a_rating_thread_that_hangs_is_found_although_the_worker_reports(scene: Scene) -> None:
    scene.ends[1] += 7
    scene.report("host/1", open=(0, 1), working_seconds=9.0)
    assert scene.seconds_until_found() <= PROMISED_SECONDS
    assert only(scene.found).startswith(
        "The worker host/1 does not finish the batch that it works on. 7 records wait in partition 1. "
    )
    scene.applied[1] += 1
    assert scene.wait(1).problems == (), "it moves"


def test_a_partition_that_stands_without_a_visible_reason_names_its_worker(scene: Scene) -> None:
    scene.ends[0] += 7
    assert scene.seconds_until_found() <= PROMISED_SECONDS
    assert "The worker host/1 applies nothing of partition 0." in only(scene.found)
    assert "look at its log and restart it" in only(scene.found)


def test_a_worker_whose_server_is_away_says_which(scene: Scene) -> None:
    scene.ends[0] += 7
    scene.report("host/1", open=(0, 1), away={"Redis": "connection refused"}, working_seconds=30.0)
    scene.seconds_until_found()
    assert "The worker host/1 waits for Redis (connection refused)." in only(scene.found)


def test_a_busy_worker_is_never_suspected(scene: Scene) -> None:
    for _ in range(60):
        scene.ends[0] += 1000
        scene.applied[0] += 10
        assert scene.wait(1).problems == ()


def test_a_batch_of_five_seconds_is_no_problem(scene: Scene) -> None:
    scene.report("host/1", open=(0, 1), working_seconds=5.0)
    scene.ends[0] += 1000
    assert scene.wait(5).problems == ()
    scene.applied[0] += 500
    assert scene.wait(5).problems == ()


def test_loading_the_state_may_take_half_a_minute(scene: Scene) -> None:
    scene.report("host/1", open=(0,), opening=(1,))
    scene.ends[1] += 5
    assert scene.wait(OPENING_SECONDS - 1).problems == ()
    assert "has not loaded the state of partition 1 yet" in only(scene.wait(3))


def test_a_worker_that_loads_the_state_again_and_again_is_found(scene: Scene) -> None:
    scene.ends[1] += 5
    for turn in range(10):
        scene.report("host/1", open=(0,) if turn % 2 else (0, 1), opening=(1,) if turn % 2 else ())
        scene.wait(1)
    scene.report("host/1", open=(0, 1))
    assert "applies nothing of partition 1" in only(scene.wait(1))


def test_a_restart_in_order_takes_less_than_the_patience(scene: Scene) -> None:
    scene.report("host/2")
    scene.kill("host/1")
    scene.workers.remove_worker("host/1")
    scene.ends[0] += 5
    assert scene.wait(6).problems == ()
    scene.report("host/2", opening=(0, 1))
    assert scene.wait(5).problems == ()
    scene.report("host/2", open=(0, 1))
    scene.applied[0] += 5
    assert scene.wait(5).problems == ()


def test_records_of_an_open_transaction_do_not_wait_for_a_worker(scene: Scene) -> None:
    lags = [Lag(partition=0, end=150, readable=100, applied=100, lag=50)]
    for second in range(30):
        assert scene.liveness.judge(scene.now + second, lags, [WorkerReport(worker="w", version="1", open=(0,))]) == (
            Findings()
        )
    scene.report("host/1", open=(0, 1), waiting={0: "judgments.v1/0 waits at offset 100 for a transaction"})
    (note,) = scene.wait(1).notes
    assert (note.kind, note.text) == ("transaction_open", "Judgments.v1/0 waits at offset 100 for a transaction.")


def test_a_monitor_that_was_paused_blames_nobody(scene: Scene) -> None:
    scene.ends[0] += 100
    scene.wait(2)
    scene.now += (
        2 * PAUSE_SECONDS
    )  # the workers have worked meanwhile, and the one report that is old is read before the next comes
    assert scene.look().problems == ()
    scene.workers.report_worker(scene.reporting["host/1"])
    scene.applied[0] += 50
    assert scene.wait(5).problems == ()


def test_workers_may_report_again_after_redis_was_away(scene: Scene) -> None:
    scene.ends[0] += 100
    scene.liveness.forget()
    silent = scene.reporting.pop("host/1")
    scene.now += 20
    assert scene.wait(6).problems == ()
    scene.reporting["host/1"] = silent
    scene.wait(2)
    scene.applied[0] += 100
    assert scene.wait(20) == Findings()


def test_a_stopped_partition_is_a_problem_with_its_way_out_until_it_goes_on(scene: Scene) -> None:
    scene.report("host/1", open=(0,), stopped={1: "the records at 1 are not ours. Bring the old topic back"})
    scene.ends[1] += 10
    assert only(scene.wait(1)) == (
        "Partition 1 is stopped, the others go on: the records at 1 are not ours. Bring the old topic back"
    )
    assert only(scene.wait(20)).startswith("Partition 1 is stopped"), "it is not called stuck as well"
    assert scene.found.stalled == {1}
    scene.report("host/1", open=(0, 1))
    assert scene.wait(1).problems == ()


def test_a_gap_in_the_store_is_a_problem_also_without_a_worker(scene: Scene) -> None:
    scene.kill("host/1")
    scene.workers.remove_worker("host/1")
    scene.ends, scene.applied = {0: 100}, {0: 90}
    scene.lag = {"stopped": "records are gone. To go on, run: judgestream gaps"}
    assert "Partition 0 is stopped, the others go on: records are gone. To go on, run: judgestream gaps" in only(
        scene.wait(1)
    )


def test_records_for_another_partition_are_a_note_for_some_minutes(scene: Scene) -> None:
    scene.lag = {"forwarded": 5}
    scene.liveness = Liveness()
    assert scene.wait(2) == Findings(), "what was forwarded before the first look is no news"
    scene.lag = {"forwarded": 8}
    (note,) = scene.wait(1).notes
    assert note.kind == "misrouted"
    assert "6 in the last 5 minutes." in str(note)
    assert "partitioner=murmur2_random" in note.fix
    assert scene.found.problems == ()
    assert scene.wait(FORWARDED_SECONDS + 1) == Findings()


def test_the_text_stays_the_same_while_the_numbers_grow(scene: Scene) -> None:
    scene.ends[0] += 7
    scene.seconds_until_found()
    text = scene.found.problems[0].text
    scene.ends[0] += 7
    assert scene.wait(5).problems[0].text == text
