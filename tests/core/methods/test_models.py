"""The papers' simple models, against their own examples, other implementations and brute force."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import optimize

from streams.core.methods.elo import Elo
from streams.core.methods.glicko import SCALE, Glicko2, GlickoRatings, _volatility, after_period
from streams.core.methods.independent_students import IndependentStudents
from streams.core.methods.online import Online
from streams.core.methods.pairs import Pairs
from streams.core.methods.reference import AdjustedUniform, IndependentPairs
from streams.core.methods.win_shares import Bojar, ExpectedWins, OrigWmt
from streams.core.models import create
from tests.core.methods.outcomes import drawn, pairs_of, scores_of

if TYPE_CHECKING:
    pass


def twins() -> Pairs:
    """Draw the papers' case: A against B a third each, and C a copy of B that always ties with it."""
    apart = [(0, rival, outcome) for rival in (1, 2) for outcome in (0, 1, 2)]
    return pairs_of(apart + [(1, 2, 1)] * 3, systems=3)


def test_a_copy_of_a_system_lifts_origwmt_as_bojar_et_al_say_and_not_their_own_score() -> None:
    assert OrigWmt().fit(twins()).scores == pytest.approx([2 / 3, 5 / 6, 5 / 6])
    assert Bojar().fit(twins()).scores == pytest.approx([0.5, 0.5, 0.5])


def test_expected_wins_count_every_opponent_once_however_often_it_was_met() -> None:
    pairs = pairs_of([(0, 1, 0)] * 30 + [(0, 2, 2)] * 2, systems=3)
    assert ExpectedWins().fit(pairs).scores == pytest.approx([0.5, 0.0, 1.0])
    assert Bojar().fit(pairs).scores == pytest.approx([30 / 32, 0.0, 1.0])


def test_a_score_predicts_as_many_ties_as_there_were() -> None:
    tie = Bojar().fit(Pairs.parse(">=" * 500)).predict(0, 1).tie
    assert tie == pytest.approx(0.5, abs=0.002)


def test_the_adjusted_uniform_model_knows_the_share_of_ties_only() -> None:
    assert AdjustedUniform().fit(twins()).predict(0, 1) == pytest.approx((2 / 9, 5 / 9, 2 / 9))


def test_the_adjusted_uniform_model_without_data_is_uniform() -> None:
    assert AdjustedUniform().fit(Pairs.parse("")).predict(0, 1) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_independent_pairs_add_the_prior_to_what_this_pair_did() -> None:
    fitted = IndependentPairs(strength=2.0).fit(pairs_of([(0, 1, 0), (1, 0, 2), (1, 2, 1)], systems=3))
    assert fitted.predict(0, 1) == pytest.approx((4 / 8, 2 / 8, 2 / 8))
    assert fitted.predict(0, 2) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        ("asymmetric", (3 / 6, 2 / 6, 1 / 6)),
        ("arithmetic", ((3 / 6 + 1 / 4) / 2, (2 / 6 + 2 / 4) / 2, (1 / 6 + 1 / 4) / 2)),
        ("geometric", (0.387, 0.4471, 0.2236)),
    ],
)
def test_independent_students_put_two_records_together(mean: str, expected: tuple[float, ...]) -> None:
    # 0 has two wins and a tie, 2 has one tie; 0 and 2 met in that tie.
    pairs = pairs_of([(0, 1, 0), (1, 0, 2), (0, 2, 1)], systems=3)
    raw = np.array(expected)
    fitted = IndependentStudents(mean=mean).fit(pairs)  # type: ignore[arg-type]
    assert fitted.predict(0, 2) == pytest.approx(raw / raw.sum(), abs=1e-3)


def test_elo_moves_two_ratings_by_what_was_not_expected() -> None:
    scores = Elo(k=20.0).fit(pairs_of([(0, 1, 0), (1, 0, 1)], systems=2)).scores
    expected = 1 / (1 + 10 ** (20 / 400))  # of the one who lost first, 1490 against 1510
    assert scores == pytest.approx([1510 - 20 * (0.5 - expected), 1490 + 20 * (0.5 - expected)])


def test_a_lead_of_four_hundred_is_ten_to_one_for_elo() -> None:
    fitted = Elo(k=400.0).fit(Pairs.parse(">"))  # 1700 against 1300
    win, _, loss = fitted.predict(0, 1)
    assert win / loss == pytest.approx(10.0)


def test_glicko_2_rates_glickman_s_own_example() -> None:
    before = GlickoRatings(
        mean=(np.array([1500.0, 1400.0, 1550.0, 1700.0]) - 1500.0) / SCALE,
        deviation=np.array([200.0, 30.0, 100.0, 300.0]) / SCALE,
        volatility=np.full(4, 0.06),
    )
    after = after_period(before, np.zeros(3, int), np.array([1, 2, 3]), np.array([1.0, 0.0, 0.0]), tau=0.5)
    assert 1500 + SCALE * after.mean[0] == pytest.approx(1464.06, abs=0.01)
    assert SCALE * after.deviation[0] == pytest.approx(151.52, abs=0.01)
    assert after.volatility[0] == pytest.approx(0.05999, abs=1e-5)


@pytest.mark.parametrize(
    ("delta", "phi", "v"), [(-0.48, 1.15, 1.78), (4.0, 0.6, 0.5), (9.0, 0.3, 0.4), (0.0, 2.0, 0.1), (2.0, 0.2, 3.0)]
)
def test_glicko_2_s_volatility_is_the_root_of_its_equation(delta: float, phi: float, v: float) -> None:
    sigma, tau = 0.06, 0.5

    def f(x: float) -> float:
        spread = phi**2 + v + np.exp(x)
        return float(np.exp(x) * (delta**2 - spread) / (2 * spread**2) - (x - log(sigma**2)) / tau**2)

    expected = np.exp(optimize.brentq(f, -20.0, 10.0, xtol=1e-10) / 2)
    assert _volatility(delta, phi, v, sigma, tau) == pytest.approx(expected, rel=1e-5)


def test_glicko_2_is_less_sure_of_a_system_that_did_not_play() -> None:
    deviations = Glicko2().fit(pairs_of([(0, 1, 0), (0, 1, 2)] * 20, systems=3)).deviations
    assert deviations is not None
    assert deviations[0] < 350.0 < deviations[2]


@pytest.mark.parametrize("name", ["trueskill", "trueskill-judges", "grm"])
def test_an_online_model_learns_as_the_product_does(name: str) -> None:
    pairs = drawn(200)
    model = create(name, {})
    model.grow(5, 8, 60)
    for row in range(200):
        model.apply(pairs.select(np.array([row])).to_batch())
    fitted = Online(model=name).fit(pairs)
    np.testing.assert_allclose(scores_of(fitted), model.scores()[0], atol=1e-9)
    assert fitted.predict(3, 1) == pytest.approx(model.predict(3, 1))


def test_a_batch_of_pairs_says_who_won() -> None:
    batch = Pairs.parse(">=<").to_batch()
    assert batch.systems.tolist() == [0, 1, 0, 1, 0, 1]
    assert batch.ranks.reshape(-1, 2).tolist() == [[1, 2], [1, 1], [2, 1]]
    assert batch.pairs == 3
