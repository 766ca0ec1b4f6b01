"""A gap in the log is written down by the partition's owner, and stays listed once an operator has accepted it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.errors import Fenced
from streams.stores.base import partition_state
from streams.stores.commit import Commit, PartitionState

if TYPE_CHECKING:
    from streams.stores import Lease, Store

HOME = "judgments.v1/0"


def move(store: Store, lease: Lease, before: int, after: int) -> None:
    store.persist(lease, Commit(before=before, after=after, read=after, rejected=0, campaigns=(), outbox=()))


def listed(store: Store) -> list[tuple[int, int, bool]]:
    return [(gap.start, gap.end, gap.accepted is not None) for gap in store.read_gaps(HOME)]


def test_a_partition_has_no_gap_at_first_and_none_can_be_accepted(store: Store) -> None:
    assert store.read_gaps(HOME) == []
    assert not store.accept_gap(HOME, 0, 5)
    assert store.read_gaps(HOME) == []


def test_a_gap_is_reported_once_and_accepted_once(store: Store) -> None:
    lease, _ = store.open(HOME)
    gap = store.report_gap(lease, 0, 5)
    assert (gap.start, gap.end, gap.missing, gap.accepted) == (0, 5, 5, None)
    assert store.report_gap(lease, 0, 5) == gap
    assert store.read_gaps(HOME) == [gap]
    assert store.accept_gap(HOME, 0, 5)
    accepted = store.report_gap(lease, 0, 5)
    assert accepted.accepted is not None
    assert accepted.found == gap.found
    assert store.accept_gap(HOME, 0, 5)
    assert store.read_gaps(HOME) == [accepted]


def test_a_larger_gap_takes_the_place_of_a_smaller_one_and_is_not_accepted(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.report_gap(lease, 0, 5)
    assert store.accept_gap(HOME, 0, 5)
    assert store.report_gap(lease, 0, 9).accepted is None
    assert listed(store) == [(0, 9, False)]
    assert not store.accept_gap(HOME, 0, 5)
    assert not store.accept_gap(HOME, 0, 8)


def test_an_accepted_gap_stays_listed_and_one_that_went_away_does_not(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.report_gap(lease, 0, 5)
    store.accept_gap(HOME, 0, 5)
    move(store, lease, 0, 10)
    store.report_gap(lease, 10, 12)
    assert listed(store) == [(0, 5, True), (10, 12, False)]
    move(store, lease, 10, 11)
    store.report_gap(lease, 11, 120)
    assert listed(store) == [(0, 5, True), (11, 120, False)]
    assert store.read_gaps("judgments.v1/1") == []


def test_a_former_owner_reports_nothing(store: Store) -> None:
    former, _ = store.open(HOME)
    store.open(HOME)
    with pytest.raises(Fenced):
        store.report_gap(former, 0, 5)
    assert store.read_gaps(HOME) == []


def test_offsets_without_a_record_are_counted_in_the_head(store: Store) -> None:
    lease, _ = store.open(HOME)
    store.persist(lease, Commit(before=0, after=10, read=5, rejected=0, missing=3, empty=2, campaigns=(), outbox=()))
    _, state = store.open(HOME)
    assert (state.next_offset, state.read, state.missing, state.empty) == (10, 5, 3, 2)


def test_offsets_that_an_earlier_version_did_not_count_are_empty() -> None:
    assert partition_state({"offset": "10", "read": "7"}) == PartitionState(next_offset=10, read=7, empty=3)
