"""TrueSkill against the `trueskill` package and against the definition of its moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import trueskill
from scipy import integrate, stats

from streams import kernels
from streams.errors import ParameterError
from streams.kernels import normal
from streams.models import Batch, create

if TYPE_CHECKING:
    from streams.models.base import Floats

BETA, MARGIN = 1.118, 0.45


def pairs(a: list[int], b: list[int], ranks_a: list[int], ranks_b: list[int]) -> Batch:
    count = len(a)
    return Batch(
        systems=np.array([a, b], np.int64).T.reshape(-1),
        ranks=np.array([ranks_a, ranks_b], np.int64).T.reshape(-1),
        starts=np.arange(0, 2 * count + 1, 2),
        judges=np.zeros(count, np.int64),
        segments=np.zeros(count, np.int64),
        scores=np.full(count, np.nan),
    )


def random_pairs(count: int, systems: int, *, seed: int = 0) -> Batch:
    random = np.random.default_rng(seed)
    a = random.integers(systems, size=count)
    b = (a + 1 + random.integers(systems - 1, size=count)) % systems
    noise = random.normal(size=(2, count))
    seen = np.round(np.stack([a, b]) * 0.3 + noise).astype(int)
    return pairs(a.tolist(), b.tolist(), (seen[0] - seen.min() + 1).tolist(), (seen[1] - seen.min() + 1).tolist())


def package(batch: Batch, systems: int) -> tuple[Floats, Floats]:
    draw = 2 * stats.norm.cdf(MARGIN / (np.sqrt(2) * BETA)) - 1
    table = trueskill.TrueSkill(mu=0, sigma=1, beta=BETA, tau=0, draw_probability=float(draw))
    ratings = [table.create_rating() for _ in range(systems)]
    for k in range(len(batch)):
        i, j = batch.systems[2 * k : 2 * k + 2]
        r_i, r_j = batch.ranks[2 * k : 2 * k + 2]
        if r_i > r_j:
            i, j = j, i
        ratings[i], ratings[j] = trueskill.rate_1vs1(ratings[i], ratings[j], drawn=bool(r_i == r_j), env=table)
    return np.array([rating.mu for rating in ratings]), np.array([rating.sigma for rating in ratings])


def test_two_way_updates_equal_the_trueskill_package() -> None:
    batch = random_pairs(2000, 9)
    model = create("trueskill", {"beta": BETA, "margin": MARGIN})
    model.grow(9, 1, 1)
    model.apply(batch)
    mean, deviation = model.scores()
    expected_mean, expected_deviation = package(batch, 9)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-6)
    np.testing.assert_allclose(deviation, expected_deviation, atol=1e-6)


def test_a_ranking_of_five_counts_as_its_ten_pairs_in_order() -> None:
    five = Batch(
        systems=np.array([3, 0, 4, 1, 2]),
        ranks=np.array([1, 2, 2, 3, 5]),
        starts=np.array([0, 5]),
        judges=np.zeros(1, np.int64),
        segments=np.zeros(1, np.int64),
        scores=np.full(1, np.nan),
    )
    order = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    ten = pairs(
        [int(five.systems[a]) for a, _ in order],
        [int(five.systems[b]) for _, b in order],
        [int(five.ranks[a]) for a, _ in order],
        [int(five.ranks[b]) for _, b in order],
    )
    assert five.pairs == ten.pairs == 10
    models = []
    for batch in (five, ten):
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
        functions.rate_rankings(mean, variance, batch.systems, batch.ranks, batch.starts, BETA, MARGIN)
        states.append((mean.tolist(), variance.tolist()))
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


@pytest.mark.parametrize("t", [30.0, 34.9, 35.1, 36.0, 40.0, 1e3, 1e6])
def test_far_tails_stay_finite_and_follow_the_asymptote(t: float) -> None:
    v, w = normal.win_moments(-t)
    assert t < v < t + 1 / t + 1e-9 * t
    assert 1 - 2 / t**2 - 1e-3 <= w <= 1
    v, w = normal.tie_moments(t, 0.3)
    assert -t < v < 0
    assert 0 < w <= 1
    assert normal.win_moments(t)[0] == pytest.approx(0, abs=1e-100)


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


def test_a_wrong_model_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(ParameterError, match="did you mean 'trueskill'"):
        create("truskill", {})
