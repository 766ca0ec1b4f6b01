"""Scores from pair counts, against the published ones and a maximiser of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize, special

from benchmarks.wmt13 import PUBLISHED
from streams.core.methods import CountMethod
from streams.core.methods.bradley_terry import BradleyTerry
from streams.core.methods.registry import METHODS
from streams.core.methods.win_shares import ExpectedWins
from streams.core.ranking import PairCounts
from tests.builders import crowd_log
from tests.data import WMT13_SYSTEMS, wmt13_counts

if TYPE_CHECKING:
    from streams.core.ranking.ranges import Floats, Ints


PRIOR = BradleyTerry().deviation
COUNTED = {name: method for name, method in METHODS.items() if isinstance(method, CountMethod)}


def table(size: int, most: int = 30) -> st.SearchStrategy[Ints]:
    return arrays(np.int64, (size, size), elements=st.integers(0, most)).map(
        lambda a: a * (1 - np.eye(size, dtype=int))
    )


def fitted(wins: Ints, ties: Ints) -> Floats:
    """Maximise Bradley-Terry's log posterior by scipy."""
    won = wins + ties / 2

    def loss(theta: Floats) -> float:
        gap = theta[:, None] - theta[None, :]
        return float((theta**2).sum() / (2 * PRIOR**2) - (won * special.log_expit(gap)).sum())

    found: Floats = optimize.minimize(loss, np.zeros(len(won)), method="BFGS", options={"gtol": 1e-8}).x
    return found


@pytest.mark.data
def test_expected_wins_are_the_published_scores_of_wmt13() -> None:
    counts = wmt13_counts()
    scores = ExpectedWins().score(counts.wins, counts.ties)
    order = [counts.systems.index(name) for name in WMT13_SYSTEMS]
    np.testing.assert_allclose(scores[order], PUBLISHED, atol=0.001)


def test_expected_wins_leave_out_opponents_whom_nothing_was_decided_with() -> None:
    wins = np.array([[0, 3, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]])
    assert ExpectedWins().score(wins, np.ones((4, 4), int)).tolist() == [0.75, 0.375, 0.5, 0.5]


@given(table(4), table(4, most=10).map(lambda a: a + a.T))
def test_bradley_terry_is_the_maximum_of_its_posterior(wins: Ints, ties: Ints) -> None:
    np.testing.assert_allclose(BradleyTerry().score(wins, ties), fitted(wins, ties), atol=2e-3)


@pytest.mark.data
def test_on_a_real_log_bradley_terry_s_prior_does_not_show() -> None:
    counts = wmt13_counts()
    won = counts.wins + counts.ties / 2
    strength = np.ones(len(won))
    for _ in range(300):  # Zermelo's iteration, that knows no prior
        strength = won.sum(axis=1) / ((won + won.T) / (strength[:, None] + strength[None, :])).sum(axis=1)
    expected = np.log(strength) - np.log(strength).mean()
    np.testing.assert_allclose(BradleyTerry().score(counts.wins, counts.ties), expected, atol=1e-5)


def test_bradley_terry_finds_the_maximum_where_whole_newton_steps_run_away() -> None:
    wins = np.array([[0, 1, 0, 10], [0, 0, 0, 0], [100_000, 0, 0, 0], [0, 1000, 10_000, 0]])
    theta = BradleyTerry().score(wins, np.zeros((4, 4), int))
    expected = (wins + wins.T) * special.expit(theta[:, None] - theta[None, :])
    np.testing.assert_allclose((wins - expected).sum(axis=1), theta / PRIOR**2, atol=1e-6)


def test_who_won_or_lost_everything_has_a_finite_strength() -> None:
    theta = BradleyTerry().score(np.array([[0, 900, 900], [0, 0, 900], [0, 0, 0]]), np.zeros((3, 3), int))
    assert np.all(np.isfinite(theta))
    assert theta[0] > theta[1] > theta[2]
    assert theta.sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", COUNTED)
def test_many_tables_at_once_score_as_each_alone(name: str) -> None:
    counts = PairCounts.of(crowd_log(400, systems=6))
    wins, ties = counts.resample(5, np.random.default_rng(2))
    together = COUNTED[name].score_tables(wins, ties)
    close = 0.02 if name == "playoffs" else 1e-9  # each table has its own draws
    for run in range(5):
        np.testing.assert_allclose(together[run], COUNTED[name].score(wins[run], ties[run]), atol=close)


@pytest.mark.parametrize("name", COUNTED)
def test_relabelling_systems_relabels_their_scores(name: str) -> None:
    counts = PairCounts.of(crowd_log(400, systems=6))
    order = np.random.default_rng(1).permutation(6)
    relabelled = COUNTED[name].score(counts.wins[np.ix_(order, order)], counts.ties[np.ix_(order, order)])
    # What is drawn depends on the numbers of the systems, and a search ends when its steps are small.
    close = {"playoffs": 0.02, "bradley-terry-ties": 1e-5}.get(name, 1e-9)
    np.testing.assert_allclose(relabelled, COUNTED[name].score(counts.wins, counts.ties)[order], atol=close)


@pytest.mark.parametrize("name", COUNTED)
def test_no_systems_have_no_scores(name: str) -> None:
    assert COUNTED[name].score(np.zeros((0, 0), int), np.zeros((0, 0), int)).shape == (0,)
