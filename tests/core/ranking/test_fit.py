"""The fit of a settled board against the optimum that scipy finds of the same likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from streams.core import kernels
from streams.core.ranking.fit import Fit, PairOutcomes, fit_pairs
from tests.core.ranking.grouped import drawn

PRECISION = 0.28


def pairs_of(outcomes: list[list[float]], size: int, *, precision: float = PRECISION) -> PairOutcomes:
    """Return the outcomes of the first pairs of some systems."""
    first, second = np.triu_indices(size, 1)
    kept = len(outcomes)
    return PairOutcomes(
        first=first[:kept].astype(np.int64),
        second=second[:kept].astype(np.int64),
        outcomes=np.array(outcomes, float).reshape(-1, 3),
        size=size,
        precision=precision,
    )


def drawn_pairs(systems: int, judgments: int, *, times: int = 1, seed: int = 1) -> PairOutcomes:
    counts = drawn(systems, judgments, seed=seed)
    return PairOutcomes(
        first=counts.first,
        second=counts.second,
        outcomes=times * counts.totals.astype(float),
        size=systems,
        precision=PRECISION,
    )


def log_posterior(pairs: PairOutcomes, ability: np.ndarray, margin: float) -> float:
    """Return the logarithm of the posterior, by scipy's normal distribution. One comparison of equals is the prior."""

    def of(t: np.ndarray) -> np.ndarray:
        tie = stats.norm.sf(np.abs(t) - margin) - stats.norm.sf(np.abs(t) + margin)
        return np.stack([stats.norm.logcdf(t - margin), np.log(tie), stats.norm.logcdf(-t - margin)], axis=-1)

    seen = (pairs.outcomes * of(ability[pairs.first] - ability[pairs.second])).sum()
    prior = of(np.zeros(1))[0] @ [0.25, 0.5, 0.25] - 0.5 * pairs.precision * (ability**2).sum()
    return float(seen + prior)


def optimum(pairs: PairOutcomes, start: Fit) -> np.ndarray:
    """Return the best abilities and the logarithm of the margin that scipy finds near a fit."""
    point = np.append(start.ability, np.log(start.margin))
    found = optimize.minimize(
        lambda x: -log_posterior(pairs, x[:-1], float(np.exp(x[-1]))), point + 0.01, method="BFGS", tol=1e-9
    )
    return np.asarray(found.x)


CASES = {
    "one pair": pairs_of([[7, 2, 1]], 2),
    "a sweep": pairs_of([[4, 0, 0]], 2),
    "no ties": pairs_of([[30, 0, 11], [8, 0, 12], [5, 0, 9]], 3),
    "all ties": pairs_of([[0, 30, 0], [0, 8, 0], [0, 5, 0]], 3),
    "one tie": pairs_of([[0, 1, 0]], 2),
    "no judgment": pairs_of([], 3),
    "one system": pairs_of([], 1),
    "many ties far apart": pairs_of([[50, 1, 0], [200, 3, 0], [60, 40, 1]], 3),
    "drawn": drawn_pairs(6, 400),
}


@pytest.mark.parametrize("pairs", CASES.values(), ids=CASES)
def test_the_fit_is_the_optimum_of_the_likelihood(pairs: PairOutcomes) -> None:
    fit = fit_pairs(pairs)
    best = optimum(pairs, fit)
    reached = log_posterior(pairs, fit.ability, fit.margin)
    assert reached >= log_posterior(pairs, best[:-1], float(np.exp(best[-1]))) - 1e-8
    np.testing.assert_allclose(fit.ability, best[:-1], atol=1e-5)
    assert fit.margin == pytest.approx(np.exp(best[-1]), rel=1e-4)


@pytest.mark.parametrize("pairs", [CASES["drawn"], CASES["many ties far apart"], CASES["no ties"]])
def test_the_curvature_is_the_second_derivative(pairs: PairOutcomes) -> None:
    fit = fit_pairs(pairs)
    step = min(1e-4, 0.01 * fit.margin)
    size = pairs.size + 1
    steps = np.eye(size) * step

    def at(move: np.ndarray) -> float:
        return log_posterior(pairs, fit.ability + move[:-1], fit.margin + float(move[-1]))

    for i in range(size):
        for j in range(size):
            four = (
                at(steps[i] + steps[j]) - at(steps[i] - steps[j]) - at(steps[j] - steps[i]) + at(-steps[i] - steps[j])
            )
            assert fit.hessian[i, j] == pytest.approx(-four / (4 * step * step), rel=1e-3, abs=2e-3 / step**0.5)


@pytest.mark.parametrize("ties", [0, 10**8, 10**9])
def test_a_billion_judgments_are_fitted(ties: int) -> None:
    fit = fit_pairs(pairs_of([[6 * 10**8, ties, 4 * 10**8]], 2))
    gap = fit.ability[0] - fit.ability[1]
    won, lost = stats.norm.cdf(gap - fit.margin), stats.norm.cdf(-gap - fit.margin)
    assert won == pytest.approx(6e8 / (1e9 + ties), rel=1e-6)
    assert lost == pytest.approx(4e8 / (1e9 + ties), rel=1e-6)
    assert np.isfinite(fit.hessian).all()


def test_no_tie_in_many_judgments_leaves_almost_no_margin() -> None:
    assert 0.0 < fit_pairs(pairs_of([[10**6, 0, 10**6]], 2)).margin < 1e-5


def test_a_fit_does_not_depend_on_the_names_of_the_systems() -> None:
    pairs = drawn_pairs(7, 300)
    order = np.random.default_rng(3).permutation(7)
    a, b = order[pairs.first], order[pairs.second]
    turned = np.where((a < b)[:, None], pairs.outcomes, pairs.outcomes[:, ::-1])
    other = fit_pairs(
        PairOutcomes(first=np.minimum(a, b), second=np.maximum(a, b), outcomes=turned, size=7, precision=PRECISION)
    )
    fit = fit_pairs(pairs)
    np.testing.assert_allclose(other.ability[order], fit.ability, atol=1e-12)
    assert other.margin == pytest.approx(fit.margin, abs=1e-12)


def test_the_sum_of_the_abilities_is_zero() -> None:
    assert fit_pairs(drawn_pairs(7, 300)).ability.sum() == pytest.approx(0.0, abs=1e-12)


def test_many_times_the_same_counts_give_the_fit_without_a_prior() -> None:
    fits = [fit_pairs(drawn_pairs(5, 300, times=times)) for times in (1, 1000, 10**6)]
    gaps = [float(np.abs(fit.ability - fits[-1].ability).max()) for fit in fits[:2]]
    assert gaps[1] < 2e-3 * gaps[0] < 1e-3


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 50)] * 3), min_size=6, max_size=6), st.floats(1e-3, 1e3))
def test_at_the_fit_the_gradient_vanishes(outcomes: list[tuple[int, int, int]], precision: float) -> None:
    pairs = pairs_of([list(map(float, each)) for each in outcomes], 4, precision=precision)
    fit = fit_pairs(pairs)
    gradient, hessian = np.empty(5), np.empty((5, 5))
    moments, prior = np.empty((6, 3, 5)), np.empty((3, 5))
    kernels.plain("newton").evaluate(
        pairs.first, pairs.second, pairs.outcomes, 0.0, fit.parameters, moments, prior, gradient, hessian
    )
    np.testing.assert_allclose(gradient[:-1], precision * fit.ability, atol=1e-7 * (1 + precision))


def test_a_fit_from_that_of_other_outcomes_is_the_fit_from_zero() -> None:
    before, after = drawn_pairs(7, 300), drawn_pairs(7, 400)
    near = fit_pairs(after, start=fit_pairs(before))
    np.testing.assert_allclose(near.parameters, fit_pairs(after).parameters, atol=1e-9)
    np.testing.assert_allclose(near.hessian, fit_pairs(after).hessian, rtol=1e-4)


def test_the_compiled_search_and_the_one_with_lapack_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = drawn_pairs(7, 300)
    compiled = fit_pairs(pairs)
    monkeypatch.setattr("streams.core.ranking.fit.MOST_SYSTEMS", 0)
    large = fit_pairs(pairs)
    np.testing.assert_allclose(large.parameters, compiled.parameters, atol=1e-12)
    np.testing.assert_allclose(large.moments, compiled.moments, atol=1e-11)


def test_plain_and_compiled_kernels_give_the_same_bits() -> None:
    counts = drawn(6, 200)
    results = []
    for load in (kernels.plain, kernels.compiled):
        newton, jackknife, settled = load("newton"), load("jackknife"), load("settled")
        point = np.append(np.random.default_rng(1).normal(size=6), 0.2)
        moments, prior = np.empty((len(counts.first), 3, 5)), np.empty((3, 5))
        gradient, hessian, matrix, vectors = np.empty(7), np.empty((7, 7)), np.empty((7, 7)), np.empty((2, 7))
        state = counts.first, counts.second, counts.totals.astype(float), 0.3, point, moments, prior, gradient, hessian
        assert newton.climb(*state, matrix, vectors, False, 1e-11) > 2
        slopes, products = np.zeros((7, 32)), np.empty((7, 32))
        groups = (counts.by_judge, moments, counts.first, counts.second)
        jackknife.group_slopes(*groups, slopes)
        jackknife.group_products(*groups, slopes, products)
        moves = np.zeros((32, 7))
        assert jackknife.delete_each(*groups, hessian, np.empty((7, 7)), moves) == 32
        variance, part = np.empty((7, 7)), np.empty(9, np.int64)
        settled.widest_variances(hessian, np.linalg.inv(hessian), variance)
        assert not settled.join_islands(np.array([0, 2, 4, 3]), np.array([5, 6, 5, 6]), part)
        assert part.tolist() == [0, 9, 2, 2, 0, 0, 2, 9, 9]
        results.append((point, moments, gradient, hessian, slopes, products, moves, variance))
    for plain, compiled in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, compiled)
