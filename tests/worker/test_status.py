"""A worker that waits for a server is not ready, and lives; one whose loop stands still does not."""

from __future__ import annotations

from streams.worker.status import STUCK_SECONDS, WorkerStatus


def working() -> WorkerStatus:
    return WorkerStatus(joined=True, assigned=3, open=3, loop_ran_at=1000.0)


def test_one_that_works_is_ready_and_lives() -> None:
    assert working().find_readiness_problem() is None
    assert working().find_liveness_problem(now=1001.0) is None


def test_one_that_waits_for_a_server_says_for_which_until_it_answers() -> None:
    status = working()
    status.mark_away("Redis", "connection refused")
    assert status.find_readiness_problem() == "waiting for Redis: connection refused"
    assert status.find_liveness_problem(now=1000.0 + 10 * STUCK_SECONDS) is None, "a restart would not bring Redis back"
    status.mark_back("Redis")
    assert status.find_readiness_problem() is None


def test_one_that_is_not_in_the_group_or_has_yet_to_load_its_state_is_not_ready() -> None:
    assert WorkerStatus().find_readiness_problem() == "not in the consumer group yet"
    assert (
        WorkerStatus(joined=True, assigned=3, open=1).find_readiness_problem() == "2 of 3 partitions are not open yet"
    )


def test_one_with_a_stopped_partition_names_it_with_its_problem_and_lives() -> None:
    status = working()
    status.open = 2
    status.stopped["judgments.v1/1"] = "records are gone. To go on, run: ..."
    problem = "judgments.v1/1 is stopped: records are gone. To go on, run: ..."
    assert status.find_readiness_problem() == problem
    assert status.find_liveness_problem(now=1001.0) is None


def test_one_without_a_partition_is_ready() -> None:
    assert WorkerStatus(joined=True).find_readiness_problem() is None


def test_one_whose_loop_stands_still_does_find_liveness_problem() -> None:
    assert (
        working().find_liveness_problem(now=1000.0 + STUCK_SECONDS)
        == f"the reading loop has not run for {STUCK_SECONDS:.0f} s"
    )
