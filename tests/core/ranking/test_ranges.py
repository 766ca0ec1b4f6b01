"""Rank ranges and clusters, by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from streams.core.ranking import clusters, rank_ranges, rows, sampled_ranges
from streams.errors import ParameterError


def test_published_ranges_give_the_published_clusters() -> None:
    # WMT13 French-English, the official rank ranges: 1 | 2-3 2-3 | 4-5 4-5 5-6 | 7 | 8 | 9-10 9-11 10-11 | 12 | 13
    best = np.array([1, 2, 2, 4, 4, 5, 7, 8, 9, 9, 10, 12, 13])
    worst = np.array([1, 3, 3, 5, 5, 6, 7, 8, 10, 11, 11, 12, 13])
    assert clusters(best, worst).tolist() == [1, 2, 2, 3, 3, 3, 4, 5, 6, 6, 6, 7, 8]


def test_a_cluster_goes_on_while_any_system_of_it_may_stand_below() -> None:
    assert clusters(np.array([1, 2, 3]), np.array([3, 2, 3])).tolist() == [1, 1, 1]


@given(arrays(float, 7, elements=st.floats(-5, 5)), arrays(float, 7, elements=st.floats(0.01, 3)))
def test_a_system_s_place_is_within_its_range(mean: np.ndarray, deviation: np.ndarray) -> None:
    board = rows([f"s{i}" for i in range(7)], mean, deviation, [0] * 7)
    assert [row.rank for row in board] == list(range(1, 8))
    for row in board:
        assert 1 <= row.rank_low <= row.rank <= row.rank_high <= 7


def test_systems_that_are_equally_known_and_far_apart_have_a_place_each() -> None:
    best, worst = rank_ranges(np.array([9.0, 6.0, 3.0]), np.array([0.5, 0.5, 0.5]))
    assert best.tolist() == worst.tolist() == [1, 2, 3]


def test_unknown_systems_may_stand_anywhere_in_one_cluster() -> None:
    best, worst = rank_ranges(np.zeros(4), np.ones(4))
    assert (best.tolist(), worst.tolist()) == ([1] * 4, [4] * 4)
    assert clusters(best, worst).tolist() == [1] * 4


def test_equal_means_are_ordered_by_name() -> None:
    board = rows(["b", "a"], np.zeros(2), np.ones(2), [0, 0])
    assert [row.system for row in board] == ["a", "b"]


def test_no_systems_give_no_rows() -> None:
    assert rows([], np.zeros(0), np.zeros(0), []) == ()


@pytest.mark.parametrize(("runs", "dropped"), [(3, 1), (40, 1), (41, 2), (100, 3), (1000, 25)])
def test_a_sampled_range_drops_two_and_a_half_per_cent_at_both_ends_rounded_up(runs: int, dropped: int) -> None:
    samples = np.random.default_rng(runs).normal(size=(runs, 6)) + np.linspace(0, 1, 6)
    best, worst = sampled_ranges(samples)
    for system in range(6):
        ranks = sorted(1 + sum(other > scores[system] for other in scores) for scores in samples.tolist())
        assert (best[system], worst[system]) == (ranks[dropped], ranks[-1 - dropped])


@given(arrays(float, st.tuples(st.integers(3, 50), st.integers(0, 6)), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0])))
def test_sampled_ranges_are_those_of_counting_who_is_better(samples: np.ndarray) -> None:
    best = np.sort(1 + (samples[:, None, :] > samples[:, :, None]).sum(axis=2), axis=0)
    worst = np.sort((samples[:, None, :] >= samples[:, :, None]).sum(axis=2), axis=0)
    dropped = int(np.ceil(len(samples) * 0.025))
    found = sampled_ranges(samples)
    np.testing.assert_array_equal(found[0], best[dropped])
    np.testing.assert_array_equal(found[1], worst[len(samples) - 1 - dropped])


def test_systems_equal_in_a_run_hold_all_the_ranks_that_they_share() -> None:
    best, worst = sampled_ranges(np.array([[0.0, 5.0, 0.0, 0.0, -1.0]] * 10))
    assert (best.tolist(), worst.tolist()) == ([2, 1, 2, 2, 5], [4, 1, 4, 4, 5])


def test_too_few_runs_for_a_range_are_refused() -> None:
    with pytest.raises(ParameterError, match="2 runs are too few for a rank range; use 3 or more"):
        sampled_ranges(np.zeros((2, 4)))
