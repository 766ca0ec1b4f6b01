"""Fragility against brute force: the smallest number of comparisons without which the leader does not lead."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from streams.core import kernels
from streams.core.ranking import fragility as subject
from streams.core.ranking.fit import fit_pairs
from streams.core.ranking.fragility import fragility
from streams.core.ranking.settled import SettledBoard, settle
from tests.core.ranking.grouped import counted, drawn


def brute_force(board: SettledBoard, most: int) -> int:
    """Try all ways to take comparisons away, fewest first."""
    leader = int(np.argmax(board.score))
    counts = board.pairs.outcomes.ravel().astype(int)
    ways = sorted(product(*(range(min(most, count) + 1) for count in counts)), key=sum)
    for way in ways:
        rest = (counts - np.array(way)).reshape(-1, 3).astype(float)
        ability = fit_pairs(replace(board.pairs, outcomes=rest)).ability
        if ability[leader] - np.delete(ability, leader).max() <= 1e-9:
            return sum(way)
    raise AssertionError("the leader leads without any comparison")


@pytest.mark.parametrize(
    "outcomes",
    [
        {("a", "b"): (4, 0, 0)},
        {("a", "b"): (7, 2, 4)},
        {("a", "b"): (3, 0, 2), ("a", "c"): (4, 0, 1)},
        {("a", "b"): (3, 0, 1), ("b", "c"): (2, 1, 1), ("a", "c"): (2, 0, 1)},
        {("a", "b"): (2, 0, 1), ("b", "c"): (3, 0, 0), ("a", "c"): (1, 0, 2)},
    ],
)
def test_few_comparisons_are_as_brute_force_finds(outcomes: dict[tuple[str, str], tuple[int, int, int]]) -> None:
    board = settle(counted(outcomes))
    assert fragility(board) == brute_force(board, most=4)


@pytest.mark.parametrize("seed", range(12))
def test_it_is_never_below_brute_force_and_rarely_above(seed: int) -> None:
    board = settle(drawn(3, 9, seed=seed))
    found = fragility(board)
    if found is not None and len(board.counts.systems) == 3:
        best = brute_force(board, most=3)
        assert best <= found <= best + 1


def test_a_wide_lead_is_less_fragile() -> None:
    found = [fragility(settle(counted({("a", "b"): (500 + k, 0, 500 - k)}))) for k in (5, 20, 100)]
    assert found == [10, 40, 200]


def test_without_fits_the_estimate_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    board = settle(drawn(8, 2000))
    confirmed = fragility(board)
    monkeypatch.setattr(subject, "MOST_SYSTEMS", 0)
    estimate = fragility(board)
    assert confirmed is not None
    assert estimate == pytest.approx(confirmed, rel=0.1, abs=2)


def test_equal_leaders_need_none() -> None:
    assert fragility(settle(counted({("a", "b"): (5, 0, 5)}))) == 0


def test_islands_have_no_common_leader() -> None:
    assert fragility(settle(counted({("a", "b"): (9, 0, 1), ("c", "d"): (9, 0, 1)}))) is None
    assert fragility(settle(counted({("a", "b"): (9, 0, 1)}, more="x"))) == 8
    assert fragility(settle(counted({("a", "b"): (9, 0, 1)})), shown=[0]) is None


def test_a_hidden_leader_is_not_the_leader() -> None:
    board = settle(counted({("a", "b"): (90, 0, 10), ("b", "c"): (60, 0, 40), ("a", "c"): (90, 0, 10)}))
    assert fragility(board, shown=[1, 2]) == fragility(settle(board.counts), shown=[1, 2])
    assert (fragility(board, shown=[1, 2]) or 0) < (fragility(board) or 0)


def test_the_weakest_gap_is_found_as_by_sorting_plain_and_compiled() -> None:
    random = np.random.default_rng(4)
    pairs, size = 30, 90
    first, second = random.integers(0, 4, pairs), random.integers(4, 8, pairs)
    outcomes, moments = random.integers(0, 5, (pairs, 3)).astype(float), random.normal(size=(pairs, 3, 5))
    moments[10:20] = moments[:10]  # equal ones are taken in their order
    first[10:20], second[10:20] = first[:10], second[:10]
    weights, gaps = random.normal(size=(3, 9)), np.array([5.0, 20.0, 1e9])
    for kernel in (kernels.plain("supports"), kernels.compiled("supports")):
        cells, found = np.full((3, size), -1), np.empty(6, np.int64)
        best = kernel.find_weakest(
            first, second, outcomes, moments, weights, gaps, np.empty(size), np.empty(size, np.int64), cells, found
        )
        assert best == int(np.argmin(found[1::2]))
        for k, gap in enumerate(gaps):
            by_pair = weights[k][first] - weights[k][second]
            influence = (moments[:, :, 0] * by_pair[:, None] + moments[:, :, 1] * weights[k][-1]).ravel()
            counts = outcomes.ravel()
            useful = np.flatnonzero((influence > 0) & (counts > 0))
            order = useful[np.argsort(-influence[useful], kind="stable")]
            each = np.repeat(influence[order], counts[order].astype(int))
            needed = min(int(np.searchsorted(np.cumsum(each), gap)) + 1, len(each))
            assert found[2 * k + 1] == needed
            assert cells[k, : found[2 * k]].tolist() == order[: found[2 * k]].tolist()
