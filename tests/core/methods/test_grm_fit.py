"""The batch graded response model against quadrature, finite differences and simulated truth; the baseline's choice."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit

from streams.core.methods.baseline_choice import choose_baseline
from streams.core.methods.grm_fit import Comparisons, MarginalLikelihood, fit_graded_response
from streams.core.models.base import JudgmentBatch, parameters_of
from streams.core.models.grm import GradedResponse, GradedResponseParameters
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats


def chance(theta: float, a: Floats, lower: Floats, upper: Floats, u: Floats) -> Floats:
    passed = np.stack([np.ones_like(a), expit(a * (theta - lower)), expit(a * (theta - upper)), np.zeros_like(a)])
    rows = np.arange(len(a))
    return np.asarray(passed[u.astype(int) - 1, rows] - passed[u.astype(int), rows])


def simulated(count: int, *, systems: int, seed: int) -> tuple[Comparisons, Floats, Floats, Floats]:
    """Draw from the paper's model: 30 judges on 60 segments; give the truth with the comparisons."""
    random = np.random.default_rng(seed)
    theta = random.normal(0, np.sqrt(2), systems)
    a = 1.7 * np.exp(random.normal(0, 0.6, 30))
    middle, half = random.normal(0, 1, 60), 0.5 * np.exp(random.normal(0, 0.5, 60))
    i, k, j = random.integers(systems, size=count), random.integers(30, size=count), random.integers(60, size=count)
    gap, draw = theta[i] - middle[j], random.random(count)
    u = 1 + (draw < expit(a[k] * (gap + half[j]))) + (draw < expit(a[k] * (gap - half[j])))
    return Comparisons(systems=i, judges=k, segments=j, outcomes=u), theta, a, middle


def point(problem: MarginalLikelihood, *, seed: int = 1) -> Floats:
    start = problem.start()
    return start + np.random.default_rng(seed).normal(0, 0.4, len(start))


@pytest.mark.parametrize("adapted", [False, True])
def test_the_gradient_is_that_of_finite_differences(adapted: bool) -> None:
    data, *_ = simulated(300, systems=5, seed=0)
    problem = MarginalLikelihood(data, GradedResponseParameters(), nodes=21)
    at = point(problem)
    if adapted:
        problem.place_nodes(*problem.map_theta(at))
    exact = problem.loss(at)[1]
    numeric = optimize.approx_fprime(at, lambda x: problem.loss(x)[0], 1e-6)
    assert exact == pytest.approx(numeric, abs=2e-4)


def test_the_likelihood_is_the_integral_over_theta_with_the_priors_of_the_paper() -> None:
    data, *_ = simulated(60, systems=3, seed=2)
    problem = MarginalLikelihood(data, GradedResponseParameters(), nodes=21)
    at = point(problem)
    problem.place_nodes(*problem.map_theta(at))
    alpha, middle, delta = problem.split(at)
    half = 0.5 * np.exp(delta)
    expected = 0.0
    for system in range(3):
        rows = data.systems == system
        a = np.exp(alpha)[data.judges[rows]]
        m, w = middle[data.segments[rows]], half[data.segments[rows]]
        u = data.outcomes[rows].astype(np.float64)
        integral = integrate.quad(
            lambda theta, a=a, m=m, w=w, u=u: (
                stats.norm.pdf(theta, 0, np.sqrt(2)) * chance(theta, a, m - w, m + w, u).prod()
            ),
            -8,
            8,
            epsabs=0,
            points=[0.0],
            limit=200,
        )[0]
        expected += np.log(integral)
    expected -= 0.5 * ((alpha - np.log(1.7)) ** 2).sum()
    expected -= ((middle - half + 0.5) ** 2 + (middle + half - 0.5) ** 2).sum() / 8
    assert -problem.loss(at)[0] == pytest.approx(expected, rel=1e-6)


def test_the_mode_of_theta_is_where_the_posterior_is_highest() -> None:
    data, *_ = simulated(200, systems=4, seed=3)
    problem = MarginalLikelihood(data, GradedResponseParameters(), nodes=21)
    at = point(problem)
    alpha, middle, delta = problem.split(at)
    theta, deviation = problem.map_theta(at)
    for system in range(4):
        rows = data.systems == system
        a, half = np.exp(alpha)[data.judges[rows]], 0.5 * np.exp(delta)[data.segments[rows]]
        m, u = middle[data.segments[rows]], data.outcomes[rows].astype(np.float64)
        best = optimize.minimize_scalar(
            lambda x, a=a, m=m, half=half, u=u: x**2 / 4 - np.log(chance(x, a, m - half, m + half, u)).sum(),
            bounds=(-6, 6),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert theta[system] == pytest.approx(best.x, abs=1e-5)
    assert (deviation > 0).all()
    assert (deviation < np.sqrt(2)).all()


def test_simulated_truth_is_recovered() -> None:
    data, theta, a, middle = simulated(4000, systems=8, seed=4)
    found = fit_graded_response(data)
    assert np.corrcoef(found.theta, theta)[0, 1] > 0.995
    assert np.corrcoef(np.log(found.sensitivities), np.log(a))[0, 1] > 0.9
    assert np.corrcoef(found.thresholds.mean(axis=1), middle)[0, 1] > 0.95
    assert (found.thresholds[:, 0] < found.thresholds[:, 1]).all()


@pytest.mark.long
def test_nodes_on_the_posterior_find_a_higher_likelihood_than_nodes_on_the_prior() -> None:
    data, theta, *_ = simulated(1500, systems=4, seed=5)
    on_prior, on_posterior = (
        fit_graded_response(data, rounds=1, iterations=240),
        fit_graded_response(data, rounds=4, iterations=60),
    )
    assert on_posterior.log_likelihood > on_prior.log_likelihood + 5
    assert np.corrcoef(on_posterior.theta, theta)[0, 1] >= np.corrcoef(on_prior.theta, theta)[0, 1] - 1e-3


def test_one_online_pass_comes_close_to_the_batch() -> None:
    data, theta, *_ = simulated(4000, systems=12, seed=6)
    model = GradedResponse(parameters_of(GradedResponse, {"mode": "baseline"}))
    model.grow(13, 30, 60)
    model.baseline = 12
    count = len(data.systems)
    model.apply(
        JudgmentBatch(
            systems=np.stack([data.systems, np.full(count, 12)], axis=1).reshape(-1),
            ranks=np.stack([4 - data.outcomes, data.outcomes], axis=1).reshape(-1),
            starts=np.arange(0, 2 * count + 1, 2),
            judges=data.judges,
            segments=data.segments,
            scores=np.full(count, np.nan),
        )
    )
    online = np.corrcoef(model.scores()[0][:12], theta)[0, 1]
    assert online > np.corrcoef(fit_graded_response(data).theta, theta)[0, 1] - 0.01


def test_a_missing_scipy_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    one = np.zeros(1, np.int64)
    with pytest.raises(ParameterError, match=r"pip install judgestream\[lab\]"):
        fit_graded_response(Comparisons(systems=one, judges=one, segments=one, outcomes=one + 1))


def test_wrong_comparisons_are_refused() -> None:
    two = np.zeros(2, np.int64)
    with pytest.raises(ParameterError, match="an outcome is 1"):
        Comparisons(systems=two, judges=two, segments=two, outcomes=two)
    with pytest.raises(ParameterError, match="one system"):
        Comparisons(systems=two, judges=two, segments=two, outcomes=two[:1])


# -- the choice of a baseline ----------------------------------------------------------------------------


def ladder(theta: Floats, count: int) -> tuple[Floats, Floats]:
    """Give the expected counts of wins and ties of systems with these abilities."""
    gap = theta[:, None] - theta[None, :]
    wins, losses = expit(gap - 0.5), expit(-gap - 0.5)
    off = ~np.eye(len(theta), dtype=bool)
    return np.round(count * wins * off), np.round(count * (1 - wins - losses) * off)


def test_the_baseline_is_the_system_among_the_others() -> None:
    wins, ties = (table.astype(np.int64) for table in ladder(np.array([2.5, -2.4, 4.0, -1.2, 0.1, -4.5, 1.3]), 400))
    choice = choose_baseline(wins, ties, names=list("abcdefg"))
    assert "abcdefg"[choice.system] == "e"
    assert choice.reason.startswith("e wins")
    assert "abcdefg"[int(np.argmin(choice.information))] == "f"


def test_the_information_is_what_narrows_the_ability_of_the_others() -> None:
    theta = np.array([0.3, -0.8, 1.1])
    wins, ties = (table.astype(np.int64) for table in ladder(theta, 10_000_000))
    h = 1e-5

    def logs(gap: float) -> Floats:
        win, loss = expit(gap - 0.5), expit(-gap - 0.5)
        return np.log([win, 1 - win - loss, loss])

    def fisher(gap: float) -> float:
        slopes = (logs(gap + h) - logs(gap - h)) / (2 * h)
        return float((np.exp(logs(gap)) * slopes**2).sum())

    for candidate in range(3):
        others = [fisher(theta[i] - theta[candidate]) for i in range(3) if i != candidate]
        harmonic = len(others) / sum(1 / each for each in others)
        assert choose_baseline(wins, ties).information[candidate] == pytest.approx(harmonic, rel=1e-4)


def test_pairs_that_never_met_leave_the_choice_sane() -> None:
    empty = np.zeros((4, 4), np.int64)
    choice = choose_baseline(empty, empty)
    assert choice.system == 0
    assert np.isfinite(choice.information).all()
    wins = empty.copy()
    wins[1, 0] = wins[2, 0] = 50
    assert choose_baseline(wins, empty).system != 0


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="square"):
        choose_baseline(np.zeros((2, 3), np.int64), np.zeros((2, 3), np.int64))
    with pytest.raises(ParameterError, match="at least 2 systems"):
        choose_baseline(np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64))
