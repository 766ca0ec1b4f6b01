"""The models that are the maximum of a posterior, against another maximiser of the formula as it is printed."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import optimize, special

from streams.core.methods import grm_fit
from streams.core.methods.bradley_terry import BradleyTerry
from streams.core.methods.crowd_bradley_terry import CrowdBradleyTerry
from streams.core.methods.davidson import Davidson
from streams.core.methods.grm_batch import BatchGradedResponse
from streams.core.methods.pairs import Pairs
from streams.core.methods.two_stage import TwoStage, graded
from streams.errors import ParameterError
from tests.core.methods.outcomes import drawn, pairs_of, scores_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.models.base import Floats


def davidson_loss(point: Floats, pairs: Pairs, deviation: float, eta: Floats | None = None) -> float:
    """Sum Davidson's formula as it stands in the paper, outcome by outcome."""
    strength, nu, loss = np.exp(point[:-1]), np.exp(point[-1]), float((point**2).sum() / (2 * deviation**2))
    for a, b, outcome, judge in zip(pairs.a, pairs.b, pairs.outcome, pairs.judge, strict=True):
        whole = strength[a] + strength[b] + nu * np.sqrt(strength[a] * strength[b])
        win, tie, lost = strength[a] / whole, nu * np.sqrt(strength[a] * strength[b]) / whole, strength[b] / whole
        r = 1.0 if eta is None else eta[judge]
        loss -= log((r * win + (1 - r) * lost, tie, r * lost + (1 - r) * win)[outcome])
    return loss


def test_davidson_is_the_maximum_of_its_posterior() -> None:
    pairs = drawn(60, qualities=(0.5, 0.0, -0.5))
    fitted = Davidson(deviation=2.0).fit(pairs)
    found = optimize.minimize(davidson_loss, np.zeros(4), args=(pairs, 2.0), method="BFGS", options={"gtol": 1e-6}).x
    np.testing.assert_allclose(scores_of(fitted), found[:3], atol=1e-3)
    win, tie, loss = fitted.predict(0, 1)
    assert tie / np.sqrt(win * loss) == pytest.approx(np.exp(found[3]), abs=1e-3)


def test_davidson_without_ties_is_bradley_terry() -> None:
    pairs = drawn(500)
    pairs = pairs.select(pairs.outcome != 1)
    scores = scores_of(Davidson(deviation=10.0).fit(pairs))
    np.testing.assert_allclose(scores, BradleyTerry().score(*pairs.counts()), atol=0.02)


def test_crowd_bradley_terry_is_the_maximum_of_its_posterior() -> None:
    pairs = drawn(40, qualities=(0.7, 0.0, -0.7), judges=2)

    def loss(point: Floats) -> float:
        logit = point[4:]
        beta = 10.0 * special.log_expit(logit) + special.log_expit(-logit)
        return davidson_loss(point[:4], pairs, 1.0, special.expit(logit)) - float(beta.sum())

    start = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 2.0])
    found = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-5}).x
    fitted = CrowdBradleyTerry().fit(pairs)
    np.testing.assert_allclose(scores_of(fitted), found[:3], atol=2e-3)
    assert fitted.reliabilities == pytest.approx(special.expit(found[4:]), abs=2e-3)


def test_crowd_bradley_terry_trusts_as_davidson_does_where_its_prior_says_so() -> None:
    pairs = drawn(500)
    sure = CrowdBradleyTerry(prior_a=1e6, prior_b=1e-3).fit(pairs)
    np.testing.assert_allclose(sure.outcomes, Davidson().fit(pairs).outcomes, atol=1e-3)


def test_crowd_bradley_terry_finds_the_judges_who_answer_at_random() -> None:
    reliabilities = CrowdBradleyTerry().fit(drawn(4000, careless=3)).reliabilities
    assert reliabilities is not None
    assert reliabilities[:3].max() < reliabilities[3:].min()
    assert reliabilities[:3].mean() == pytest.approx(0.5, abs=0.12)


@pytest.mark.long
def test_the_batch_graded_response_model_sees_comparisons_with_its_baseline_only() -> None:
    pairs = drawn(600)
    fitted = BatchGradedResponse(baseline=2).fit(pairs)
    met = pairs.select((pairs.a == 2) | (pairs.b == 2))
    better = np.where(met.b == 2, met.outcome == 0, met.outcome == 2)
    expected = grm_fit.fit_graded_response(
        grm_fit.Comparisons(
            systems=met.a + met.b - 2,
            judges=met.judge,
            segments=met.segment,
            outcomes=np.where(met.outcome == 1, 2, np.where(better, 3, 1)),
        )
    )
    others = [0, 1, 3, 4]
    np.testing.assert_allclose(scores_of(fitted)[others], expected.theta[others])
    assert scores_of(fitted)[2] == 0.0
    np.testing.assert_array_equal(fitted.outcomes, BatchGradedResponse(baseline=2).fit(met).outcomes)


def test_a_baseline_that_is_no_system_is_named() -> None:
    with pytest.raises(ParameterError, match="baseline: 7 is not a system; use 0 to 4"):
        BatchGradedResponse(baseline=7).fit(drawn(10))


def test_the_two_stages_are_at_the_maximum_of_their_posterior() -> None:
    pairs = drawn(12, qualities=(0.7, -0.7), judges=2, segments=3)

    def loss(point: Floats) -> float:
        theta, luck, bias, log_width = point[:2], point[2:8].reshape(2, 3), point[8:10], point[10:]
        value = (theta**2).sum() / 2 + 4 * (luck**2).sum() / 2 + 4 * (bias**2).sum() / 2
        value += ((log_width - log(0.5)) ** 2).sum() / 2
        for a, b, outcome, k, s in zip(pairs.a, pairs.b, pairs.outcome, pairs.judge, pairs.segment, strict=True):
            gap = theta[a] + luck[a, s] - theta[b] - luck[b, s] - bias[k]
            not_lost, won = special.expit(gap + np.exp(log_width[k])), special.expit(gap - np.exp(log_width[k]))
            value -= log((won, not_lost - won, 1 - not_lost)[outcome])
        return float(value)

    found = optimize.minimize(loss, np.zeros(12), method="BFGS", options={"gtol": 1e-5}).x
    np.testing.assert_allclose(scores_of(TwoStage().fit(pairs)), found[:2], atol=1e-3)


@pytest.mark.parametrize("outcome", [0, 1, 2])
def test_the_slopes_of_a_graded_outcome_are_its_differences(outcome: int) -> None:
    gap, width, kind, step = np.array([0.3]), np.array([0.6]), np.array([outcome]), 1e-6
    _, by_gap, by_width = graded(gap, width, kind)
    assert by_gap[0] == pytest.approx(
        (graded(gap + step, width, kind)[0] - graded(gap - step, width, kind)[0]) / (2 * step), abs=1e-6
    )
    assert by_width[0] == pytest.approx(
        (graded(gap, width + step, kind)[0] - graded(gap, width - step, kind)[0]) / (2 * step), abs=1e-6
    )


@pytest.mark.long
def test_a_judge_who_always_takes_the_first_tells_the_two_stages_little() -> None:
    honest, first = drawn(300, judges=3), pairs_of([(4, 0, 0)] * 200, systems=5, judges=np.full(200, 3))
    mixed = Pairs(
        a=np.append(honest.a, first.a),
        b=np.append(honest.b, first.b),
        outcome=np.append(honest.outcome, first.outcome),
        judge=np.append(honest.judge, first.judge),
        segment=np.append(honest.segment, first.segment),
        systems=honest.systems,
        judges=first.judges,
        segments=first.segments,
    )
    believed = [TwoStage(bias_deviation=deviation).fit(mixed).predict(0, 4).win for deviation in (1e-3, 5.0)]
    assert believed[0] < believed[1]


def numeric_hessian(loss: Callable[[Floats], float], point: Floats, step: float = 1e-3) -> Floats:
    """Return second differences of a loss."""
    moves = step * np.eye(len(point))
    return np.array(
        [
            [
                (loss(point + p + q) - loss(point + p - q) - loss(point - p + q) + loss(point - p - q)) / (4 * step**2)
                for q in moves
            ]
            for p in moves
        ]
    )


def test_the_deviations_of_two_systems_are_those_of_their_difference() -> None:
    pairs = drawn(40, qualities=(0.7, -0.7), judges=2)
    fitted = CrowdBradleyTerry().fit(pairs)
    assert fitted.deviations is not None
    assert fitted.reliabilities is not None
    win, tie, loss = fitted.predict(0, 1)
    r = float(np.average(fitted.reliabilities[pairs.judge]))
    clean = ((r * win - (1 - r) * loss) / (2 * r - 1), (r * loss - (1 - r) * win) / (2 * r - 1))
    log_nu = log(tie / np.sqrt(clean[0] * clean[1]))
    curvature = numeric_hessian(
        lambda theta: davidson_loss(np.append(theta, log_nu), pairs, 1.0, fitted.reliabilities), scores_of(fitted)
    )
    covariance = np.linalg.inv(curvature)
    difference = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert (fitted.deviations**2).sum() == pytest.approx(difference, rel=1e-2)


def test_the_deviations_of_the_two_stages_have_the_luck_of_outputs_integrated_out() -> None:
    pairs = drawn(30, qualities=(0.7, -0.7), judges=1, segments=4)
    model = TwoStage(bias_deviation=1e-3)
    fitted = model.fit(pairs)
    assert fitted.deviations is not None
    # With this prior the only judge has no bias. The width is found again from the posterior itself.
    point = np.zeros(11)

    def loss(values: Floats) -> float:
        theta, luck, log_width = values[:2], values[2:10].reshape(2, 4), values[10]
        value = (theta**2).sum() / 2 + 4 * (luck**2).sum() / 2 + (log_width - log(0.5)) ** 2 / 2
        for a, b, outcome, s in zip(pairs.a, pairs.b, pairs.outcome, pairs.segment, strict=True):
            gap = theta[a] + luck[a, s] - theta[b] - luck[b, s]
            not_lost, won = special.expit(gap + np.exp(log_width)), special.expit(gap - np.exp(log_width))
            value -= log((won, not_lost - won, 1 - not_lost)[outcome])
        return float(value)

    point = optimize.minimize(loss, np.append(np.zeros(10), log(0.5)), method="BFGS", options={"gtol": 1e-6}).x
    covariance = np.linalg.inv(numeric_hessian(lambda part: loss(np.append(part, point[10])), point[:10]))
    difference = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert (fitted.deviations**2).sum() == pytest.approx(difference, rel=1e-2)
