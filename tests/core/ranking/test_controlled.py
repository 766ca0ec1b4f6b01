"""The controlled board against scipy: the same mode by another optimiser, and by logistic regression."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr
from scipy.stats import norm

from streams.core.kernels.newton import MARGIN_PRIOR
from streams.core.ranking.controlled import StyledComparisons, control, relative_differences, standardise
from streams.core.ranking.grouped_counts import LOSS, TIE, WIN, GroupedCounts
from streams.core.ranking.settled import DEFAULT_BETA, SettledBoard, settle

C = sqrt(2.0) * DEFAULT_BETA


def board_of(log: StyledComparisons, size: int, *, judges: int = 40) -> SettledBoard:
    """Return the board without control. The groups of the comparisons are those of judgments and judges."""
    pairs = sorted(set(zip(log.first.tolist(), log.second.tolist(), strict=True)))
    index = {pair: k for k, pair in enumerate(pairs)}
    place = [index[pair] for pair in zip(log.first.tolist(), log.second.tolist(), strict=True)]
    by_judgment, by_judge = np.zeros((2, len(pairs), 32, 3), np.int64)
    for pair, own, judge, outcome in zip(place, log.by_judgment, log.by_judge, log.outcome, strict=True):
        by_judgment[pair, own, outcome] += 1
        by_judge[pair, judge, outcome] += 1
    return settle(
        GroupedCounts(
            systems=tuple(f"s{i}" for i in range(size)),
            first=np.array([a for a, _ in pairs]),
            second=np.array([b for _, b in pairs]),
            by_judgment=by_judgment,
            by_judge=by_judge,
            judgments=np.bincount(np.concatenate([log.first, log.second]), minlength=size),
            rankings=len(log.first),
            judges=judges,
        )
    )


def simulate(
    seed: int, *, size: int = 4, number: int = 800, effect: float = 0.8, margin: float = 0.3, ability: float = 0.0
) -> StyledComparisons:
    """Return comparisons whose outcome depends on the first of two features, and on abilities."""
    random = np.random.default_rng(seed)
    pairs = np.sort(np.array([random.choice(size, 2, replace=False) for _ in range(number)]), axis=1)
    first, second = pairs.T
    features, _ = standardise(random.normal(0.1 * (first - second)[:, None], 1.0, (number, 2)))
    theta = ability * np.arange(size)
    t = theta[first] - theta[second] + effect * features[:, 0] + random.normal(size=number)
    outcome = np.where(t > margin, WIN, np.where(t < -margin, LOSS, TIE))
    return StyledComparisons(
        first=first,
        second=second,
        outcome=outcome,
        features=features,
        by_judgment=random.integers(0, 32, number),
        by_judge=random.integers(0, 32, number),
    )


def test_scores_coefficients_and_margin_are_the_mode_that_scipy_finds() -> None:
    log = simulate(1, number=300, ability=0.3)
    found = control(board_of(log, 4), log)

    def cost(point: np.ndarray) -> float:
        theta, w, e = point[:4], point[4:6], np.exp(point[6])
        t = theta[log.first] - theta[log.second] + log.features @ w
        tie = np.log(norm.cdf(e - t) - norm.cdf(-e - t) + 1e-300)
        terms = np.where(log.outcome == WIN, log_ndtr(t - e), np.where(log.outcome == LOSS, log_ndtr(-t - e), tie))
        equal = np.log(norm.cdf(-e)), np.log(2.0 * norm.cdf(e) - 1.0)
        margin_prior = (MARGIN_PRIOR[0] + MARGIN_PRIOR[2]) * equal[0] + MARGIN_PRIOR[1] * equal[1]
        return float(-terms.sum() - margin_prior + 0.5 * (C / 3.0) ** 2 * (theta @ theta + w @ w))

    best = minimize(cost, np.append(np.zeros(6), np.log(0.3)), method="BFGS", options={"gtol": 1e-7})
    theta = best.x[:4] - best.x[:4].mean()
    assert found.board.score == pytest.approx(C * theta, abs=1e-4)
    assert found.coefficient == pytest.approx(C * best.x[4:6], abs=1e-4)
    assert found.board.margin == pytest.approx(C * np.exp(best.x[6]), abs=1e-4)


def test_effects_agree_with_a_logistic_regression_on_the_same_comparisons() -> None:
    log = simulate(2, number=4000, margin=0.0, ability=0.3)
    found = control(board_of(log, 4), log)
    design = np.zeros((4000, 6))
    design[np.arange(4000), log.first] += 1.0
    design[np.arange(4000), log.second] -= 1.0
    design[:, 4:] = log.features
    won = (log.outcome == WIN).astype(float)

    def cost(w: np.ndarray) -> float:
        p = expit(design @ w)
        return float(-(won * np.log(p) + (1 - won) * np.log(1 - p)).sum() + 1e-6 * (w @ w))

    logistic = minimize(cost, np.zeros(6), method="BFGS").x
    ours = np.append(found.board.score, found.coefficient)
    theirs = np.append(logistic[:4] - logistic[:4].mean(), logistic[4:])
    # Logit and probit differ by a factor of about 1.7.
    assert np.corrcoef(ours, theirs)[0, 1] > 0.999
    assert (theirs[4] / ours[4]) == pytest.approx(theirs[0] / ours[0], rel=0.1)


def test_equal_systems_are_level_when_the_feature_that_decides_is_controlled() -> None:
    covered, level, separated = 0, 0, 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        number = 1500
        pairs = np.sort(np.array([random.choice(3, 2, replace=False) for _ in range(number)]), axis=1)
        lengths = random.gamma(6.0, 100.0 * (1 + pairs), (number, 2))
        difference = relative_differences(lengths[:, 0], lengths[:, 1])[:, None]
        t = 2.0 * difference[:, 0] + random.normal(size=number)
        features, deviation = standardise(difference)
        log = StyledComparisons(
            first=pairs[:, 0],
            second=pairs[:, 1],
            outcome=np.where(t > 0.3, WIN, np.where(t < -0.3, LOSS, TIE)),
            features=features,
            by_judgment=random.integers(0, 32, number),
            by_judge=random.integers(0, 32, number),
        )
        plain = board_of(log, 3)
        found = control(plain, log)
        separated += len({row.cluster for row in plain.rows()}) == 3
        level += len({row.cluster for row in found.board.rows()}) == 1
        covered += abs(found.coefficient[0] - C * 2.0 * deviation[0]) < found.limit[0]
    assert separated == 20
    assert level >= 18
    assert covered >= 17


def test_without_an_effect_the_board_is_nearly_the_plain_one() -> None:
    log = simulate(3, effect=0.0, ability=0.5, number=3000)
    plain = board_of(log, 4)
    found = control(plain, log)
    assert found.board.score == pytest.approx(plain.score, abs=0.1)
    assert (np.abs(found.coefficient) < 2 * found.limit).all()
    alone = control(plain, replace(log, features=log.features[:, :0]))
    assert alone.board.score == pytest.approx(plain.score, abs=1e-9)
    assert alone.board.by_judgment.variance == pytest.approx(plain.by_judgment.variance, rel=1e-6, abs=1e-12)


def test_one_comparison_of_two_systems_is_the_mode_by_hand() -> None:
    """The slope of log Phi(theta_a - theta_b + w - e) is the same in theta_a, -theta_b and w, and so is their prior.

    So at the mode theta_a = -theta_b = w.
    """
    log = simulate(1, size=2, number=1)
    log = replace(log, outcome=np.array([WIN]), features=np.array([[1.0]]))
    found = control(board_of(log, 2), log)
    assert found.coefficient[0] == pytest.approx(found.board.score[0])
    assert found.board.score[0] == pytest.approx(-found.board.score[1])
    assert np.isinf(found.limit[0])  # one judgment proves nothing


def test_a_feature_that_decides_everything_gives_finite_numbers() -> None:
    log = simulate(4)
    log = replace(log, outcome=np.where(log.features[:, 0] > 0, WIN, LOSS))
    found = control(board_of(log, 4), log)
    numbers = np.concatenate([found.board.score, found.board.deviation, found.coefficient, found.limit])
    assert np.isfinite(numbers).all()
    assert 2.0 < found.coefficient[0] < 20.0


def test_swapping_the_systems_of_comparisons_changes_nothing_but_rounding() -> None:
    log = simulate(5)
    other = replace(log, first=log.second, second=log.first, outcome=LOSS - log.outcome, features=-log.features)
    plain = board_of(log, 4)
    one, two = control(plain, log), control(plain, other)
    assert two.board.score == pytest.approx(one.board.score, abs=1e-9)
    assert two.coefficient == pytest.approx(one.coefficient, abs=1e-9)
    assert two.limit == pytest.approx(one.limit, rel=1e-6)


def test_fewer_than_five_judges_say_nothing_about_other_judges() -> None:
    log = simulate(6)
    found = control(board_of(log, 4, judges=4), log)
    assert found.judge_limit is None
    assert found.board.by_judge is None
