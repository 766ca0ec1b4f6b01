"""Rankings of least cost against brute force over all permutations, and playoffs against playing them one by one."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special, stats

from streams.core.methods.feedback_arc_set import FeedbackArcSet
from streams.core.methods.linear_ordering import best_positions
from streams.core.methods.most_probable import MostProbable, log_better
from streams.core.methods.playoffs import Playoffs, play
from streams.core.methods.registry import METHODS
from streams.core.ranking import rank_scores
from streams.core.ranking.counts import PairCounts
from streams.errors import ParameterError
from tests.core.methods.outcomes import drawn, pairs_of

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints

NO_TIES = np.zeros((5, 5), int)


def tables(size: int, most: int) -> st.SearchStrategy[Ints]:
    return arrays(np.int64, (size, size), elements=st.integers(0, most)).map(
        lambda a: a * (1 - np.eye(size, dtype=int))
    )


def cost(order: tuple[int, ...] | list[int], against: Floats | Ints) -> float:
    return float(sum(against[i, j] for k, i in enumerate(order) for j in order[k + 1 :]))


def order_of(scores: Floats) -> list[int]:
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


@given(tables(5, 9))
def test_a_feedback_arc_set_is_the_least_of_all_permutations(wins: Ints) -> None:
    overruled = np.maximum(wins.T - wins, 0)
    least = min(cost(order, overruled) for order in permutations(range(5)))
    assert cost(order_of(FeedbackArcSet().score(wins, NO_TIES)), overruled) == least


@given(tables(5, 40))
def test_no_permutation_is_more_probable_than_the_most_probable_ranking(wins: Ints) -> None:
    # P(i wins more than half) under a uniform prior is the upper half of Beta(wins + 1, losses + 1).
    against = -np.log(stats.beta.sf(0.5, wins + 1, wins.T + 1))
    least = min(cost(order, against) for order in permutations(range(5)))
    assert cost(order_of(MostProbable().score(wins, NO_TIES)), against) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (3, 1), (1, 3), (40, 10), (500, 480), (3000, 1000), (1000, 3000)])
def test_the_probability_to_be_better_is_the_incomplete_beta_function(won: int, lost: int) -> None:
    found = log_better(np.array([won]), np.array([lost]))[0]
    assert np.isfinite(found)
    if lost - won < 1000:
        assert np.exp(found) == pytest.approx(special.betainc(lost + 1, won + 1, 0.5), rel=1e-9)
    else:
        assert found == pytest.approx(stats.binom.logcdf(won, won + lost + 1, 0.5), rel=1e-6)


def test_two_rankings_differ_if_one_pair_met_far_more_often() -> None:
    # The cycle 0 > 1 > 2 > 0. Judgments: 0 over 1 by 8 of 100, 1 over 2 by 6 of 6, 2 over 0 by 7 of 7.
    wins = np.array([[0, 54, 0], [46, 0, 6], [7, 0, 0]])
    assert order_of(FeedbackArcSet().score(wins, NO_TIES[:3, :3])) == [2, 0, 1]
    assert order_of(MostProbable().score(wins, NO_TIES[:3, :3])) == [1, 2, 0]


def test_equal_cycles_are_resolved_by_expected_wins_and_then_by_name() -> None:
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert FeedbackArcSet().score(cycle, cycle * 0).tolist() == [2.0, 1.0, 0.0]
    assert best_positions(cycle.T, np.array([0.1, 0.2, 0.3])).tolist() == [2.0, 3.0, 1.0]


def test_systems_that_nothing_separates_share_a_score() -> None:
    scores = FeedbackArcSet().fit(pairs_of([(0, 1, 0), (2, 3, 0), (0, 3, 1)], systems=5)).scores
    assert scores is not None
    assert scores[0] == scores[2] > scores[4] > scores[1] == scores[3]


def test_a_cycle_of_twenty_systems_is_solved_and_one_of_twenty_one_is_refused() -> None:
    def ring(size: int) -> Ints:
        """Return wins of each system over all later ones, and one win of the last over the first."""
        wins = np.triu(np.full((size, size), 2), 1)
        wins[0, -1], wins[-1, 0] = 0, 1
        return wins

    assert order_of(FeedbackArcSet().score(ring(20), np.zeros((20, 20), int))) == list(range(20))
    with pytest.raises(ParameterError, match=r"21 systems .* at most 20; .* 'expected-wins' or 'bradley-terry'"):
        FeedbackArcSet().score(ring(21), np.zeros((21, 21), int))


def test_a_hundred_systems_without_a_cycle_need_no_search() -> None:
    wins = np.triu(np.ones((100, 100), int), 1)
    assert FeedbackArcSet().score(wins, wins * 0).tolist() == list(range(99, -1, -1))


def one_playoff(share: Floats, random: np.random.Generator) -> dict[int, int]:
    """Play one playoff, match by match, as the description reads."""
    places: dict[int, int] = {}

    def group(systems: list[int], best: int) -> None:
        if len(systems) == 1:
            places[systems[0]] = best
            return
        left = [systems[k] for k in random.permutation(len(systems))]
        winners, losers = ([left.pop()] if len(left) % 2 else []), []
        while left:
            i, j = left.pop(), left.pop()
            first = random.random() < share[i, j]
            winners.append(i if first else j)
            losers.append(j if first else i)
        group(winners, best)
        group(losers, best + len(winners))

    group(list(range(len(share))), 1)
    return places


@pytest.mark.parametrize("size", [2, 3, 5, 6])
def test_playoffs_have_the_places_of_playoffs_played_one_by_one(size: int) -> None:
    random = np.random.default_rng(size)
    wins = random.integers(1, 20, (size, size)) * (1 - np.eye(size, dtype=int))
    share = np.where(np.eye(size) > 0, 0.5, wins / np.maximum(wins + wins.T, 1))
    slow = [one_playoff(share, random) for _ in range(4000)]
    mean = np.array([np.mean([places[i] for places in slow]) for i in range(size)])
    score = Playoffs(playoffs=40_000).score(wins, wins * 0)
    np.testing.assert_allclose(size - score * (size - 1), mean, atol=4 * size / np.sqrt(12 * 4000))


def test_three_systems_play_off_as_computed_by_hand() -> None:
    # 0 always wins. It is first if it plays, or goes up without a match and then wins: always. Of 1 and 2, 1 beats 2.
    # 1 is second if it rests, or beats 2 (0 rests); it is third if it meets 0 while 2 rests.
    wins = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(Playoffs().score(wins, wins * 0), [1.0, 1 / 3, 1 / 6], atol=0.02)


def test_every_playoff_has_every_place_once() -> None:
    places = play(np.full((7, 7), 0.5), 50, np.random.default_rng(1))
    assert np.array_equal(np.sort(places, axis=1), np.tile(np.arange(1, 8), (50, 1)))


@pytest.mark.parametrize("name", ["feedback-arc-set", "most-probable"])
def test_a_ranking_predicts_that_the_higher_wins_as_often_as_it_did(name: str) -> None:
    fitted = METHODS[name].fit(drawn(2000))
    win, tie, loss = fitted.predict(0, 4)
    assert (win, tie, loss) == pytest.approx(fitted.predict(1, 2))
    assert win > loss


def test_chance_in_playoffs_does_not_separate_systems_that_always_tied() -> None:
    ties = np.full((3, 3), 10) - 10 * np.eye(3, dtype=int)
    counts = PairCounts(systems=("a", "b", "c"), wins=np.zeros((3, 3), int), ties=ties, judgments=np.full(3, 20))
    ranked = rank_scores("bootstrap", counts, method=Playoffs(playoffs=500), runs=100, seed=1)
    assert ranked.best.tolist() == [1, 1, 1]
    assert ranked.worst.tolist() == [3, 3, 3]
