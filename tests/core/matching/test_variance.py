"""The paper's policy: who is least known meets who is close."""

from __future__ import annotations

from collections import Counter

import numpy as np

from streams.core.matching import Match, find_policy
from tests.core.matching.models import rated


def choose(rows: list[tuple[float, float]], *, seed: int = 0, ways: int = 2) -> Match:
    (match,) = find_policy("variance").choose(
        rated(rows),
        candidates=range(len(rows)),
        pending=[],
        count=1,
        random=np.random.default_rng(seed),
        ways=ways,
    )
    return match


def test_the_system_of_largest_variance_comes_first() -> None:
    assert choose([(0.0, 0.1), (0.0, 0.9), (0.0, 0.2)]).systems[0] == 1


def test_close_opponents_are_drawn_by_the_exponential_of_the_distance() -> None:
    rows = [(0.0, 1.0), (0.5, 0.01), (2.0, 0.01)]
    drawn = Counter(choose(rows, seed=seed).systems[1] for seed in range(3000))
    expected = np.exp(-0.5) / (np.exp(-0.5) + np.exp(-2.0))
    assert abs(drawn[1] / 3000 - expected) < 0.035


def test_a_match_of_three_has_the_least_known_and_two_close_ones() -> None:
    rows = [(0.0, 0.1), (9.0, 0.1), (0.1, 0.9), (0.2, 0.1)]
    assert Counter(frozenset(choose(rows, seed=seed, ways=3).systems) for seed in range(20)) == {
        frozenset({0, 2, 3}): 20
    }
