"""A worker that waits for a server is not ready, and lives; one whose loop stands still does not."""

from __future__ import annotations

from streams.worker.status import STUCK_SECONDS, Status


def working() -> Status:
    return Status(joined=True, assigned=3, open=3, beat=1000.0)


def test_one_that_works_is_ready_and_lives() -> None:
    assert working().not_ready() is None
    assert working().not_live(now=1001.0) is None


def test_one_that_waits_for_a_server_says_for_which_until_it_answers() -> None:
    status = working()
    status.wait_for("Redis", "connection refused")
    assert status.not_ready() == "waiting for Redis: connection refused"
    assert status.not_live(now=1000.0 + 10 * STUCK_SECONDS) is None, "a restart would not bring Redis back"
    status.answers("Redis")
    assert status.not_ready() is None


def test_one_that_is_not_in_the_group_or_has_yet_to_load_its_state_is_not_ready() -> None:
    assert Status().not_ready() == "not in the consumer group yet"
    assert Status(joined=True, assigned=3, open=1).not_ready() == "2 of 3 partitions are not open yet"


def test_one_without_a_partition_is_ready() -> None:
    assert Status(joined=True).not_ready() is None


def test_one_whose_loop_stands_still_does_not_live() -> None:
    assert (
        working().not_live(now=1000.0 + STUCK_SECONDS)
        == f"the reading loop has not come round for {STUCK_SECONDS:.0f} s"
    )
