"""TrueSkill of pairs against the `trueskill` package and against the definition of its moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
import trueskill
from scipy import integrate, special, stats

from streams.core import kernels
from streams.core.kernels import normal
from streams.core.models import JudgmentBatch, create
from streams.core.models.trueskill import TrueSkillParameters
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats

BETA, MARGIN = 1.118, 0.45


def pairs(a: list[int], b: list[int], ranks_a: list[int], ranks_b: list[int]) -> JudgmentBatch:
    count = len(a)
    return JudgmentBatch(
        systems=np.array([a, b], np.int64).T.reshape(-1),
        ranks=np.array([ranks_a, ranks_b], np.int64).T.reshape(-1),
        starts=np.arange(0, 2 * count + 1, 2),
        judges=np.zeros(count, np.int64),
        segments=np.zeros(count, np.int64),
        scores=np.full(count, np.nan),
    )


def random_pairs(count: int, systems: int, *, seed: int = 0) -> JudgmentBatch:
    random = np.random.default_rng(seed)
    a = random.integers(systems, size=count)
    b = (a + 1 + random.integers(systems - 1, size=count)) % systems
    noise = random.normal(size=(2, count))
    seen = np.round(np.stack([a, b]) * 0.3 + noise).astype(int)
    return pairs(a.tolist(), b.tolist(), (seen[0] - seen.min() + 1).tolist(), (seen[1] - seen.min() + 1).tolist())


def environment(*, sigma: float = 1.0, beta: float = BETA, draw: float | None = None) -> trueskill.TrueSkill:
    if draw is None:
        draw = float(2 * stats.norm.cdf(MARGIN / (np.sqrt(2) * beta)) - 1)
    return trueskill.TrueSkill(mu=0, sigma=sigma, beta=beta, tau=0, draw_probability=draw)


def step(ratings: list[trueskill.Rating], batch: JudgmentBatch, k: int, table: trueskill.TrueSkill) -> None:
    i, j = batch.systems[2 * k : 2 * k + 2]
    r_i, r_j = batch.ranks[2 * k : 2 * k + 2]
    if r_i > r_j:
        i, j = j, i
    ratings[i], ratings[j] = trueskill.rate_1vs1(ratings[i], ratings[j], drawn=bool(r_i == r_j), env=table)


def package(batch: JudgmentBatch, systems: int, table: trueskill.TrueSkill) -> tuple[Floats, Floats]:
    ratings = [table.create_rating() for _ in range(systems)]
    for k in range(len(batch)):
        step(ratings, batch, k, table)
    return np.array([rating.mu for rating in ratings]), np.array([rating.sigma for rating in ratings])


@pytest.mark.long
def test_ten_thousand_two_way_updates_equal_the_trueskill_package() -> None:
    batch = random_pairs(10_000, 9)
    assert 0.2 < np.mean(batch.ranks[::2] == batch.ranks[1::2]) < 0.4
    model = create("trueskill", {"beta": BETA, "margin": MARGIN})
    model.grow(9, 1, 1)
    model.apply(batch)
    mean, deviation = model.scores()
    expected_mean, expected_deviation = package(batch, 9, environment())
    np.testing.assert_allclose(mean, expected_mean, atol=1e-6, rtol=0)
    np.testing.assert_allclose(deviation, expected_deviation, atol=1e-6, rtol=0)


def five(ranks: list[int]) -> JudgmentBatch:
    return JudgmentBatch(
        systems=np.array([3, 0, 4, 1, 2]),
        ranks=np.array(ranks),
        starts=np.array([0, 5]),
        judges=np.zeros(1, np.int64),
        segments=np.zeros(1, np.int64),
        scores=np.full(1, np.nan),
    )


def test_a_ranking_of_five_counts_as_its_ten_pairs_in_order() -> None:
    one = five([1, 2, 2, 3, 5])
    order = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    ten = pairs(
        [int(one.systems[a]) for a, _ in order],
        [int(one.systems[b]) for _, b in order],
        [int(one.ranks[a]) for a, _ in order],
        [int(one.ranks[b]) for _, b in order],
    )
    assert one.pairs == ten.pairs == 10
    models = []
    for batch in (one, ten):
        model = create("trueskill", {})
        model.grow(5, 1, 1)
        model.apply(batch)
        models.append([model.dump_row("systems", i) for i in range(5)])
    assert models[0] == models[1]


def test_compiled_and_plain_kernels_give_the_same_bits() -> None:
    batch = random_pairs(3000, 7, seed=3)
    states = []
    for functions in (kernels.plain("pairs"), kernels.compiled("pairs")):
        mean, variance = np.zeros(7), np.ones(7)
        margins = np.array([[MARGIN, 20.0], [0.0, 0.0]])
        functions.rate_rankings(mean, variance, margins, batch.systems, batch.ranks, batch.starts, batch.judges, BETA)
        states.append((mean.tolist(), variance.tolist(), margins.tolist()))
    assert states[0] == states[1]


@pytest.mark.parametrize("x", [-6.0, -1.0, 0.0, 0.5, 4.0])
def test_the_moments_of_a_win_are_those_of_a_truncated_normal(x: float) -> None:
    truncated = stats.truncnorm(-x, np.inf)
    v, w = normal.win_moments(x)
    assert v == pytest.approx(truncated.mean(), rel=1e-9)
    assert 1 - w == pytest.approx(truncated.var(), rel=1e-6)


@pytest.mark.parametrize(("t", "e"), [(0.0, 0.3), (0.5, 0.3), (2.0, 0.8), (6.0, 0.4)])
def test_the_moments_of_a_tie_are_those_of_a_truncated_normal(t: float, e: float) -> None:
    low, high = -e - t, e - t
    mass = integrate.quad(stats.norm.pdf, low, high)[0]
    mean = integrate.quad(lambda z: z * stats.norm.pdf(z), low, high)[0] / mass
    square = integrate.quad(lambda z: z * z * stats.norm.pdf(z), low, high)[0] / mass
    v, w = normal.tie_moments(t, e)
    assert v == pytest.approx(mean, rel=1e-7, abs=1e-12)
    assert 1 - w == pytest.approx(square - mean**2, rel=1e-6)


def mills(x: float) -> float:
    """Give the tail over the density by scipy's scaled function, which knows no underflow."""
    return float(np.sqrt(np.pi / 2) * special.erfcx(x / np.sqrt(2)))


@pytest.mark.parametrize("x", [-12.0, -19.9, -20.1, -34.9, -40.0, -100.0, -1e3, -1e4])
def test_a_win_against_all_odds_keeps_its_digits(x: float) -> None:
    expected = 1 / mills(-x)
    v, w = normal.win_moments(x)
    assert v == pytest.approx(expected, rel=1e-12)
    assert v == pytest.approx(np.exp(stats.norm.logpdf(x) - special.log_ndtr(x)), rel=1e-8)
    assert w == pytest.approx(expected * (expected + x), abs=1e-10 + 1e-15 * x * x)


@pytest.mark.parametrize("e", [1e-7, 0.9e-3, 1.1e-3, 0.02, 0.4, 5.0])
@pytest.mark.parametrize("t", [0.3, 12.0, 19.0, 26.0, 40.0, 100.0, 1e3])
def test_a_tie_against_all_odds_keeps_its_digits(t: float, e: float) -> None:
    # The difference is e u, and u in [-1, 1] has the density ∝ exp(e t u - (e u)² / 2), here scaled by its value at 1.
    start = max(-1.0, 1 - 60 / (e * t))

    def moment(power: int) -> float:
        def integrand(u: Floats) -> Floats:
            return np.asarray(u**power * np.exp(e * t * (u - 1) - e * e * (u * u - 1) / 2))

        return float(integrate.fixed_quad(integrand, start, 1, n=100)[0])

    mass = moment(0)
    mean = moment(1) / mass
    v, w = normal.tie_moments(t, e)
    assert v == pytest.approx(e * mean - t, rel=1e-9)
    assert 1 - w == pytest.approx(e * e * (moment(2) / mass - mean**2), abs=2e-9)


@pytest.mark.parametrize("x", [40.0, 1e3, 1e9, 1e200])
def test_no_lead_is_too_large(x: float) -> None:
    assert normal.win_moments(x) == pytest.approx((0, 0), abs=1e-300)
    assert normal.win_moments(-x) == pytest.approx((x, 1), rel=1e-3)
    assert normal.tie_moments(x, 0.3) == pytest.approx((0.3 - x, 1), rel=1e-3)
    assert normal.tie_moments(x, 0.0) == (-x, 1.0)
    assert normal.tie_moments(0.5, x) == (0.0, 0.0)


def test_a_million_wins_against_the_order_leave_everything_finite() -> None:
    count = 1_000_000
    model = create("trueskill", {"beta": 0.01, "margin": 0.0})
    model.grow(3, 1, 1)
    model.apply(pairs([0, 1] * (count // 2), [1, 2] * (count // 2), [1, 2] * (count // 2), [2, 1] * (count // 2)))
    model.apply(pairs([2] * 1000, [0] * 1000, [2] * 1000, [1] * 1000))
    mean, deviation = model.scores()
    assert np.isfinite(mean).all()
    assert (deviation > 0).all()


def test_a_tie_pulls_two_systems_together_whichever_is_named_first() -> None:
    results = []
    for systems in ((0, 1), (1, 0)):
        model = create("trueskill", {})
        model.grow(2, 1, 1)
        model.apply(pairs([0], [1], [1], [2]))
        model.apply(pairs([systems[0]], [systems[1]], [1], [1]))
        results.append([model.dump_row("systems", i) for i in range(2)])
    assert results[0] == results[1]
    lead_before = 2 * 0.3
    assert 0 < results[0][0][0] - results[0][1][0] < lead_before


def test_predictions_are_probabilities_and_know_the_other_side() -> None:
    model = create("trueskill", {})
    model.grow(6, 1, 1)
    model.apply(random_pairs(500, 6, seed=5))
    for a in range(6):
        for b in range(6):
            if a != b:
                win, tie, loss = model.predict(a, b)
                assert win + tie + loss == pytest.approx(1)
                assert (loss, tie, win) == pytest.approx(model.predict(b, a))


def test_a_match_of_equals_that_are_little_known_informs_most() -> None:
    model = create("trueskill", {})
    model.grow(4, 1, 1)
    model.apply(pairs([0] * 50, [1] * 50, [1] * 50, [2] * 50))
    assert model.information(2, 3) > model.information(0, 1) > 0


@pytest.mark.parametrize(
    ("parameters", "word"),
    [({"beta": 0}, "beta"), ({"sigma": 1}, "sigma"), ({"margin": -1}, "margin"), ({"mean": "x"}, "mean")],
)
def test_a_wrong_parameter_is_named(parameters: dict[str, object], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        create("trueskill", parameters)


def test_the_wmt_profile_is_the_official_environment() -> None:
    batch = random_pairs(500, 6, seed=8)
    model = create("trueskill", {"profile": "wmt"}, budget=400)
    model.grow(6, 1, 1)
    model.apply(batch)
    expected_mean, expected_deviation = package(batch, 6, environment(sigma=0.5, beta=0.5 * 400 / 40, draw=0.25))
    mean, deviation = model.scores()
    np.testing.assert_allclose(mean, expected_mean, atol=1e-6, rtol=0)
    np.testing.assert_allclose(deviation, expected_deviation, atol=1e-6, rtol=0)


def test_the_wmt_profile_asks_for_a_budget() -> None:
    with pytest.raises(ParameterError, match="budget"):
        create("trueskill", {"profile": "wmt"})


@pytest.mark.parametrize(
    ("name", "value"), [("mean", 25.0), ("deviation", 1.0), ("beta", 1.118), ("margin", 0.58), ("margin", 0)]
)
def test_the_wmt_profile_refuses_what_contradicts_it(name: str, value: float) -> None:
    with pytest.raises(ParameterError, match=f"{name}: .* contradicts the profile 'wmt'"):
        create("trueskill", {"profile": "wmt", name: value}, budget=400)


def test_the_wmt_profile_takes_its_own_values_back() -> None:
    made = create("trueskill", {"profile": "wmt"}, budget=400)
    values = msgspec.to_builtins(made.parameters)
    assert values["deviation"] == 0.5
    assert create("trueskill", values, budget=400).parameters == made.parameters


def test_what_is_given_stands_and_the_rest_is_the_online_profile() -> None:
    parameters = create("trueskill", {"beta": 2, "margin": 0}).parameters
    assert isinstance(parameters, TrueSkillParameters)
    assert (parameters.mean, parameters.deviation, parameters.beta, parameters.margin) == (0.0, 1.0, 2.0, 0.0)
    untouched = create("trueskill", {}, budget=400).parameters
    assert untouched == create("trueskill", {"profile": "online"}).parameters


def surprise(a: trueskill.Rating, b: trueskill.Rating, order: int) -> float:
    lead = stats.norm(a.mu - b.mu, np.sqrt(2 * BETA**2 + a.sigma**2 + b.sigma**2))
    win, loss = lead.sf(MARGIN), lead.cdf(-MARGIN)
    return -float(np.log((win, 1 - win - loss, loss)[1 + np.sign(order)]))


def predict_prequentially(batch: JudgmentBatch, systems: int) -> float:
    learn = kernels.plain("prequential").learn_prequentially
    state = np.zeros(systems), np.ones(systems), np.array([[MARGIN, np.inf]])
    return float(learn(*state, batch.systems, batch.ranks, batch.starts, batch.judges, BETA))


def test_a_log_costs_the_surprise_at_each_outcome_before_it_is_learned() -> None:
    batch, table = random_pairs(300, 5, seed=9), environment()
    ratings = [table.create_rating() for _ in range(5)]
    expected = 0.0
    for k in range(len(batch)):
        i, j = batch.systems[2 * k : 2 * k + 2]
        expected += surprise(ratings[i], ratings[j], int(batch.ranks[2 * k] - batch.ranks[2 * k + 1]))
        step(ratings, batch, k, table)
    assert predict_prequentially(batch, 5) == pytest.approx(expected, abs=1e-4)


def test_no_pair_of_a_ranking_is_predicted_from_another_of_it() -> None:
    new = environment().create_rating()
    ranks = [1, 2, 2, 3, 5]
    expected = sum(surprise(new, new, ranks[a] - ranks[b]) for a in range(5) for b in range(a + 1, 5))
    assert predict_prequentially(five(ranks), 5) == pytest.approx(expected, abs=1e-9)


def test_a_wrong_model_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(ParameterError, match="did you mean 'trueskill'"):
        create("truskill", {})
