"""Each partition emits its leaderboards once per interval, and not all at the same time."""

from __future__ import annotations

from itertools import pairwise

import pytest

from streams.kafka.partitions import Partition
from streams.worker.ownership import PartitionOwnership
from streams.worker.snapshot_schedule import SnapshotSchedule

OWNED = [PartitionOwnership(Partition("judgments.v1", number)) for number in range(12)]


def numbers(schedule: SnapshotSchedule, now: float) -> list[int]:
    return [ownership.partition.number for ownership in schedule.find_due(OWNED, now)]


def test_each_partition_is_due_once_per_interval_at_a_time_of_its_own() -> None:
    schedule = SnapshotSchedule(6.0)
    assert schedule.pause == 0.5
    taken = [numbers(schedule, 100 + 0.5 * k) for k in range(24)]
    assert [len(found) for found in taken] == 24 * [1]
    assert sorted(number for found in taken[:12] for number in found) == list(range(12))
    assert taken[12:] == taken[:12]


def test_late_calls_do_not_add_up() -> None:
    schedule, now, times = SnapshotSchedule(6.0), 100.0, []
    for _ in range(25):
        now += schedule.wait(now) + 0.2  # each call comes late
        times.append(now)
        assert len(numbers(schedule, now)) == 1
    assert {round(later - earlier, 6) for earlier, later in pairwise(times[1:])} == {0.5}


@pytest.mark.parametrize("late", [-0.2, 0.0, 0.2])
def test_a_timer_that_is_early_or_late_changes_nothing(late: float) -> None:
    even, uneven = SnapshotSchedule(6.0), SnapshotSchedule(6.0)
    expected = [numbers(even, 0.5 * k) for k in range(30)]
    assert [numbers(uneven, 0.5 * k + late * (k % 2)) for k in range(30)] == expected


def test_what_was_missed_during_a_long_call_is_due_after_it() -> None:
    schedule = SnapshotSchedule(2.0)
    first = numbers(schedule, 0.0)
    assert sorted(first + numbers(schedule, 1.75)) == list(range(12))
    assert sorted(numbers(schedule, 60.0)) == list(range(12))
    assert numbers(schedule, 60.0) == []


@pytest.mark.parametrize("seconds", [0.05, 0.3])
def test_in_a_short_interval_all_partitions_are_due_at_once(seconds: float) -> None:
    schedule = SnapshotSchedule(seconds)
    assert schedule.pause == seconds
    assert [len(numbers(schedule, seconds * k)) for k in range(3)] == [12, 12, 12]
