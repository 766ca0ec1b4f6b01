"""The segment of the next match: new to its judge, little judged, telling."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streams.core.matching import choose_segments


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.integers(0, 30))
def test_loads_grow_as_even_as_they_can(load: list[int], count: int) -> None:
    after = np.array(load)
    for segment in choose_segments(np.array(load), count=count):
        assert after[segment] == after.min()
        after[segment] += 1


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=9))
def test_a_judge_gets_all_that_is_new_before_anything_comes_again(rows: list[tuple[int, bool]]) -> None:
    load, seen = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    chosen = choose_segments(load, count=len(rows), seen=seen)
    unseen = int((~seen).sum())
    assert sorted(chosen[:unseen]) == np.flatnonzero(~seen).tolist()
    assert [load[k] for k in chosen[:unseen]] == sorted(load[~seen])


def test_a_judge_who_has_seen_all_gets_the_least_judged() -> None:
    assert choose_segments(np.array([3, 1, 2]), count=1, seen=np.ones(3, np.bool_)) == [1]


def test_a_telling_segment_is_judged_in_proportion() -> None:
    chosen = choose_segments(np.zeros(2, np.int64), count=400, information=np.array([3.0, 1.0]))
    assert abs(chosen.count(0) - 300) <= 1


def test_the_inputs_stay_as_they_were() -> None:
    load, seen = np.array([0, 1]), np.array([True, False])
    choose_segments(load, count=3, seen=seen)
    assert (load.tolist(), seen.tolist()) == ([0, 1], [True, False])


def test_without_segments_nothing_is_chosen() -> None:
    assert choose_segments(np.zeros(0, np.int64), count=3) == []
