"""Cautions from counts: each speaks when there is a reason, and is silent when there is none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from streams.core.ranking.cautions import count_cautions, count_circles, expected_circles
from streams.core.ranking.grouped_counts import GroupedCounts
from streams.core.ranking.settled import settle
from tests.core.ranking.grouped import counted, drawn

SOUND = {("a", "b"): (60, 20, 40), ("b", "c"): (60, 20, 40), ("a", "c"): (70, 20, 30)}


def codes(counts: GroupedCounts, shown: list[int] | None = None) -> dict[str, str]:
    found = count_cautions(settle(counts), shown)
    for each in found:
        assert each.link == f"docs/ranking.md#{each.code.replace('_', '-')}"
    return {each.code: each.message for each in found}


def test_a_sound_board_has_none() -> None:
    assert codes(counted(SOUND)) == {}
    assert codes(counted({})) == {}


def test_islands_and_systems_that_never_met_anybody() -> None:
    apart = {("a", "b"): (30, 10, 20), ("c", "d"): (30, 10, 20)}
    assert codes(counted(apart))["islands"].startswith("The systems are in 2 islands")
    assert codes(counted(apart), shown=[0, 1]) == {}
    lonely = codes(counted(SOUND, more="xy"))["islands"]
    assert lonely == "x and y have not been compared with any system."


def test_sweeps() -> None:
    swept = codes(counted(SOUND | {("a", "z"): (30, 5, 0), ("b", "z"): (30, 5, 0)}))
    assert swept["sweeps"] == (
        "z lost all of 60 comparisons that were not a tie, so the distance to the others is not known."
    )


def test_few_judgments() -> None:
    few = codes(counted(SOUND | {("a", "new"): (4, 0, 3)}))
    assert few["few_judgments"] == "1 of 4 systems has fewer than 20 judgments; new has 7. Their ranges are wide."


@pytest.mark.parametrize(("judges", "words"), [(1, "Only 1 judge took part"), (4, "Only 4 judges took part")])
def test_few_judges(judges: int, words: str) -> None:
    assert codes(counted(SOUND, judges=judges))["few_judges"].startswith(words)
    assert "few_judges" not in codes(counted(SOUND, judges=5))


def test_many_ties() -> None:
    assert codes(counted({("a", "b"): (20, 60, 20)}))["ties"].startswith("60% of 100 comparisons are ties")


def test_circles_beyond_chance() -> None:
    circle = dict.fromkeys([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")], (75, 0, 25))
    across = dict.fromkeys([("a", "c"), ("c", "e"), ("e", "b"), ("b", "d"), ("d", "a")], (75, 0, 25))
    message = codes(counted(circle | across))["intransitive"]
    assert message.startswith("5 times three systems beat each other in a circle")


def test_circles_by_chance_are_those_of_binomial_majorities() -> None:
    board = settle(drawn(8, 2600, spread=0.15))
    pairs, fit, size = board.pairs, board.fit, 8
    sure = np.zeros((size, size))
    for a, b, (won, _, lost) in zip(pairs.first, pairs.second, pairs.outcomes.astype(int), strict=True):
        gap, number = fit.ability[a] - fit.ability[b], won + lost
        better, worse = stats.norm.cdf([gap - fit.margin, -gap - fit.margin])
        # Fewest wins that are significant: at most 2.5 % of equal systems have as many.
        needed = stats.binom.isf(0.025, number, 0.5) + 1
        sure[a, b], sure[b, a] = (stats.binom.sf(needed - 1, number, x / (better + worse)) for x in (better, worse))
    exact = np.trace(sure @ sure @ sure) / 3
    expected, deviation = expected_circles(board)
    assert count_circles(board) == circles_one_by_one(pairs.outcomes, pairs.first, pairs.second, size)
    assert exact <= expected <= 4.0 * exact  # significance is discrete, so the exact number is smaller
    assert deviation >= np.sqrt(expected)


@pytest.mark.parametrize("seed", range(5))
def test_judgments_with_one_score_per_system_have_no_circles_beyond_chance(seed: int) -> None:
    assert "intransitive" not in codes(drawn(12, 1500, spread=0.3, seed=seed))


def circles_one_by_one(outcomes: np.ndarray, first: np.ndarray, second: np.ndarray, size: int) -> int:
    beats = np.zeros((size, size), bool)
    for a, b, (won, _, lost) in zip(first, second, outcomes.astype(int), strict=True):
        sure = won + lost > 0 and stats.binomtest(won, won + lost).pvalue <= 0.05
        beats[a, b], beats[b, a] = sure and won > lost, sure and lost > won
    found = 0
    for a in range(size):
        for b in range(a + 1, size):
            for c in range(b + 1, size):
                found += all(beats[x, y] for x, y in pairwise((a, b, c, a)))
                found += all(beats[x, y] for x, y in pairwise((a, c, b, a)))
    return found
