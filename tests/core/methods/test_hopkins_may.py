"""The samplers of Hopkins and May's models, against integrals and sums over everything that is hidden."""

from __future__ import annotations

from itertools import product
from math import lgamma

import numpy as np
import pytest
from scipy import optimize, stats

from streams.core.methods.hopkins_may import HopkinsMayCategorical, HopkinsMayGaussian
from streams.core.methods.hopkins_may_shift import HopkinsMayShift, shift
from streams.core.methods.pairs import LOSS, TIE, WIN, Pairs
from streams.core.methods.tie_radius import split_at_radius
from tests.core.methods.outcomes import pairs_of

GRID = np.linspace(-8.0, 8.0, 1601)
NODES, WEIGHTS = np.polynomial.hermite.hermgauss(80)
OUTCOMES = (0, 0, 1, 0, 2, 0, 1, 0)


def gaussian(shared: bool) -> tuple[float, float]:
    """Integrate: the mean and variance of mu_0 - mu_1, items on one segment or each on its own."""
    posterior = stats.norm.pdf(GRID, scale=np.sqrt(2.0))
    if shared:
        quality = GRID[:, None] + np.sqrt(2.0) * np.sqrt(2.0 * 0.25) * NODES  # of the two items' difference
        likelihood = split_at_radius(quality, 2.0, 0.4)[..., list(OUTCOMES)].prod(axis=-1)
        posterior *= likelihood @ WEIGHTS
    else:
        posterior *= split_at_radius(GRID, 2.0 * (0.25 + 1.0), 0.4)[:, list(OUTCOMES)].prod(axis=-1)
    posterior /= posterior.sum()
    mean = float(posterior @ GRID)
    return mean, float(posterior @ (GRID - mean) ** 2)


@pytest.mark.parametrize("shared", [False, True], ids=["each on its segment", "all on one segment"])
def test_the_gaussian_sampler_finds_the_integral(shared: bool) -> None:
    signs = "".join(">=<"[outcome] for outcome in OUTCOMES)
    data = Pairs.parse(signs) if shared else pairs_of([(0, 1, outcome) for outcome in OUTCOMES], systems=2)
    fitted = HopkinsMayGaussian(sweeps=30_000, burn_in=1000).fit(data)
    assert fitted.scores is not None
    mean, variance = gaussian(shared)
    assert fitted.scores[0] - fitted.scores[1] == pytest.approx(mean, abs=0.03)
    # Sum and difference of the abilities are independent, and only the difference is learned about.
    assert fitted.deviations == pytest.approx(np.full(2, np.sqrt(0.5 + variance / 4.0)), abs=0.02)


def categorical(rows: list[tuple[int, int, int]], levels: int, strength: float) -> np.ndarray:
    """Sum over the levels of all items, each row on its own segment: the outcomes of two new items of 0 and 1."""
    model = HopkinsMayCategorical(levels=levels, strength=strength)
    likelihood = model.likelihood()
    total, predicted = 0.0, np.zeros(3)
    for quality in product(range(levels), repeat=2 * len(rows)):
        held = np.zeros((2, levels))
        weight = 1.0
        for number, (a, b, outcome) in enumerate(rows):
            mine, theirs = quality[2 * number : 2 * number + 2]
            held[a, mine] += 1
            held[b, theirs] += 1
            weight *= likelihood[outcome, mine, theirs]
        for counts in held:
            weight *= np.exp(sum(lgamma(strength + n) - lgamma(strength) for n in counts))
        ability = (held + strength) / (held + strength).sum(axis=1, keepdims=True)
        total += weight
        predicted += weight * np.einsum("k,okl,l->o", ability[0], likelihood, ability[1])
    return predicted / total


def test_the_categorical_sampler_finds_the_sum() -> None:
    rows = [(0, 1, 0), (1, 0, 2), (0, 1, 1)]
    fitted = HopkinsMayCategorical(levels=3, sweeps=30_000, burn_in=1000).fit(pairs_of(rows, systems=2))
    assert fitted.predict(0, 1) == pytest.approx(categorical(rows, 3, 0.5), abs=0.005)


def test_noise_tells_two_levels_apart_as_the_paper_says() -> None:
    likelihood = HopkinsMayCategorical().likelihood()
    assert likelihood.sum(axis=0) == pytest.approx(np.ones((8, 8)))
    assert likelihood[0, 7, 0] > 0.99
    np.testing.assert_allclose(likelihood[0], likelihood[2].T)


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 2.0), (-0.3, 0.4), (0.5, 1.0), (3.0, 900.0), (-40.0, -6.0), (-3.0, -2.9)]
)
def test_a_normal_is_drawn_between_its_bounds(low: float, high: float) -> None:
    from streams.core.kernels.gibbs_gaussian import draw_between

    random = np.random.default_rng(0)
    drawn = np.array([draw_between(low, high, random) for _ in range(4000)])
    assert low <= drawn.min() <= drawn.max() <= high
    assert stats.kstest(drawn, stats.truncnorm(low, high).cdf).pvalue > 0.001


@pytest.mark.parametrize("low", [-2.0, 0.3, 0.5, 4.0, 30.0])
def test_a_normal_is_drawn_above_its_bound(low: float) -> None:
    from streams.core.kernels.gibbs_gaussian import draw_above

    random = np.random.default_rng(0)
    drawn = np.array([draw_above(low, random) for _ in range(4000)])
    assert drawn.min() >= low
    assert stats.kstest(drawn, stats.truncnorm(low, np.inf).cdf).pvalue > 0.001


def test_another_seed_draws_another_sample() -> None:
    one, two = (HopkinsMayGaussian(seed=seed).fit(Pairs.parse(">=<>")).scores for seed in (0, 1))
    assert one is not None
    assert two is not None
    assert not np.array_equal(one, two)


def balanced_gap(outcomes: list[int], *, radius: float, variance: float) -> float:
    """Return the gap of two systems at which the expected shifts of all outcomes cancel, by integration."""

    def fitting(gap: float, outcome: int) -> float:
        if outcome == 1:
            return min(max(gap, -radius), radius)
        return max(gap, radius) if outcome == 0 else min(gap, -radius)

    def moved(gap: float) -> float:
        normal = stats.norm(gap, np.sqrt(variance))
        each = [normal.expect(lambda drawn, o=outcome: fitting(drawn, o) - drawn) for outcome in range(3)]
        return float(sum(outcomes.count(outcome) * mean for outcome, mean in enumerate(each)))

    return float(optimize.brentq(moved, -5.0, 5.0))


@pytest.mark.parametrize(("radius", "noise"), [(0.5, 0.0), (0.3, 0.0), (0.5, 1.0)])
def test_the_shifting_sampler_settles_where_the_expected_shifts_cancel(radius: float, noise: float) -> None:
    data = pairs_of([(0, 1, outcome) for outcome in OUTCOMES * 250], systems=2)
    fitted = HopkinsMayShift(sweeps=400, radius=radius, noise=noise).fit(data)
    assert fitted.scores is not None
    expected = balanced_gap(list(OUTCOMES), radius=radius, variance=2.0 * (0.25 + noise**2))
    assert fitted.scores[0] - fitted.scores[1] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("gap", "outcome", "moved"),
    [
        (0.7, WIN, 0.7),  # t >= d: nothing moves
        (0.1, WIN, 0.5),  # otherwise each moves by (d - t) / 2, so that the gap is d
        (-0.3, WIN, 0.5),
        (0.3, LOSS, -0.5),
        (0.3, TIE, 0.3),
        (0.8, TIE, 0.5),
        (-0.8, TIE, -0.5),
    ],
)
def test_a_shift_moves_both_qualities_alike_until_they_fit_the_outcome(gap: float, outcome: int, moved: float) -> None:
    assert gap + 2.0 * shift(np.array([gap]), np.array([outcome]), 0.5)[0] == pytest.approx(moved)


def test_the_shifting_sampler_leaves_a_system_that_nobody_judged_in_the_middle() -> None:
    scores = HopkinsMayShift().fit(pairs_of([(0, 1, 0)] * 9, systems=3)).scores
    assert scores is not None
    assert scores[0] > scores[2] == 0.0 > scores[1]
