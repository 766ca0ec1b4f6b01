"""Fragility against brute force: the smallest number of comparisons without which the leader does not lead."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

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
