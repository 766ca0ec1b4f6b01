"""The kernels of differences: the same bits plain and compiled, and the ranks and lines of whole matrices."""

from __future__ import annotations

import numpy as np
import pytest

from streams.core import kernels
from streams.core.kernels import differences as at
from streams.core.ranking.differences import CONFIDENCE, RANGE_CONFIDENCE, Differences, rank_systems, surely_ranked
from streams.core.ranking.line_forecast import next_line
from streams.core.ranking.ranges import clusters


def made(size: int, *, seed: int, spread: float) -> tuple[np.ndarray, list[Differences]]:
    """Return scores in no order, and two kinds of their differences, some of them without error or with any."""
    random = np.random.default_rng(seed)
    kinds = []
    for freedom in (31, 4):
        root = random.normal(size=(size, size))
        variance = np.abs(root + root.T)
        variance[random.random((size, size)) < 0.1] = 0.0
        variance[random.random((size, size)) < 0.1] = np.inf
        kinds.append(Differences(variance=variance, freedom=freedom, decided=random.integers(0, 40, size)))
    kinds[1] = Differences(variance=kinds[1].variance, freedom=4, decided=kinds[0].decided)
    return spread * random.normal(size=size), kinds


@pytest.mark.parametrize("size", [0, 1, 2, 9, 20])
@pytest.mark.parametrize("spread", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("number", [1, 2])
def test_ranks_are_those_of_all_significant_differences(size: int, spread: float, number: int) -> None:
    for seed in range(5):
        score, kinds = made(size, seed=seed, spread=spread)
        order, by = np.argsort(-score), kinds[:number]
        ranks = rank_systems(order, score, *by)
        better = {
            level: np.logical_and.reduce([each.select(order).surely_better(score[order], level) for each in by])
            for level in (CONFIDENCE, RANGE_CONFIDENCE)
        }
        sure = surely_ranked(better[CONFIDENCE])
        many = np.count_nonzero(better[RANGE_CONFIDENCE]) >= at.RANGE_SHARE * size**2
        likely = surely_ranked(better[RANGE_CONFIDENCE if many else CONFIDENCE])
        expected = [*likely, clusters(*sure), *sure]
        assert ranks.tolist() == [row.tolist() for row in expected]


def test_a_line_is_drawn_where_every_system_above_is_better_than_every_one_below() -> None:
    drawn = set()
    for seed in range(40):
        score, (differences, _) = made(4, seed=seed, spread=20.0)
        order = np.argsort(-score)
        better = differences.select(order).surely_better(score[order])
        all_drawn = all(better[:line, line:].all() for line in range(1, 4))
        found = next_line(order, score, differences, confidence=CONFIDENCE)
        assert (found is None) == all_drawn
        if found is not None:
            assert not better[found.above, found.below]
            assert found.above < found.place <= found.below
        drawn.add(all_drawn)
    assert drawn == {False, True}


def test_plain_and_compiled_kernels_give_the_same_bits() -> None:
    score, (one, other) = made(12, seed=3, spread=3.0)
    order = np.argsort(-score)
    quantiles = np.array([[np.inf] * 6 + [2.57, 2.04], [np.inf] * 6 + [1.48, 1.31]])
    results = []
    for load in (kernels.plain, kernels.compiled):
        kernel = load("differences")
        ranks, growth, lines = np.zeros((at.ROWS, 12), np.int64), np.zeros((12, 12)), np.zeros((2, 12))
        by = one.variance, quantiles, other.variance, quantiles
        kernel.rank_systems(order, score, one.evidence, *by, True, ranks)
        later = np.where(np.isfinite(quantiles), quantiles, 2.57)
        kernel.line_growths(order, score, one.evidence, one.variance, later, 0.52, 6.0, growth, lines)
        results.append((ranks, growth, lines))
    for plain, compiled in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, compiled)
