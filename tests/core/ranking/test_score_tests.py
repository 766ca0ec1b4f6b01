"""Rank-sum tests of scores against scipy, and the official clusters by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from streams.core.ranking import clusters
from streams.core.ranking.score_tests import ScoreTests, compare_scores, rank_sum_p, standardise


@pytest.mark.parametrize("seed", range(20))
def test_p_is_that_of_scipy_with_ties_and_without(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = (np.round(random.normal(mean, 1.0, random.integers(2, 60)), seed % 4) for mean in (0.3, 0.0))
    expected = stats.mannwhitneyu(a, b, alternative="greater", method="asymptotic", use_continuity=True).pvalue
    assert rank_sum_p(a, b) == pytest.approx(expected, abs=1e-12)


def test_nothing_is_significant_without_scores_or_differences() -> None:
    same = np.full(5, 7.0)
    assert rank_sum_p(same, same) == rank_sum_p(same, same[:0]) == rank_sum_p(same[:0], same) == 1.0


def test_z_is_that_of_scipy() -> None:
    judges, scores = np.array([0, 1, 0, 1, 0, 2]), np.array([10.0, 50.0, 20.0, 90.0, 60.0, 33.0])
    found = standardise(judges, scores)
    for judge in (0, 1):
        assert found[judges == judge] == pytest.approx(stats.zscore(scores[judges == judge], ddof=1))
    assert found[5] == 0.0  # one score has no deviation


def test_a_segment_counts_once_however_often_it_was_scored() -> None:
    systems, segments = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 0, 1])
    found = compare_scores(systems, segments, np.array([10.0, 30.0, 50.0, 5.0, 7.0]))
    assert found.score.tolist() == [35.0, 6.0]  # (20 + 50) / 2, (5 + 7) / 2
    assert found.error == pytest.approx([15.0, 1.0])
    expected = stats.mannwhitneyu([20, 50], [5, 7], alternative="greater", method="asymptotic").pvalue
    assert found.p[0, 1] == pytest.approx(expected)


def ranked(wins: list[list[int]]) -> list[int]:
    """Return the clusters of systems whose scores fall, with these wins."""
    p = np.where(np.array(wins), 0.01, 0.2)
    score = -np.arange(len(wins), dtype=np.float64)
    found = ScoreTests(score=score, error=np.ones_like(score), p=p).rank([f"s{k:02}" for k in range(len(wins))])
    return [int(cluster) for cluster in clusters(found.best, found.worst)]


def test_a_cluster_ends_after_a_system_that_wins_as_often_as_there_are_systems_below() -> None:
    assert ranked([[0, 1, 1], [0, 0, 1], [0, 0, 0]]) == [1, 2, 3]
    assert ranked([[0, 0, 1], [0, 0, 1], [0, 0, 0]]) == [1, 1, 2]
    assert ranked([[0, 0, 0], [0, 0, 1], [0, 0, 0]]) == [1, 1, 2]  # the first one does not win, as in WMT21 de-en
    assert ranked([[0, 0, 0], [1, 0, 1], [0, 0, 0]]) == [1, 1, 1]  # one win too many, as happypoet of WMT21 de-en
    assert ranked([[0]]) == [1]


def test_the_ranks_of_a_cluster_are_those_of_all_its_systems() -> None:
    p = np.array([[1.0, 0.01, 0.01], [1.0, 1.0, 0.2], [1.0, 1.0, 1.0]])
    found = ScoreTests(score=np.array([3.0, 1.0, 2.0]), error=np.ones(3), p=p[:, [0, 2, 1]][[0, 2, 1]]).rank(
        ["a", "b", "c"]
    )
    assert (found.best.tolist(), found.worst.tolist()) == ([1, 2, 2], [1, 3, 3])
