"""Measures of predictions, against scipy, other formulas and tiny data worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from streams.core.methods.base import Fitted
from streams.core.methods.pairs import Pairs
from streams.core.methods.registry import create_method
from streams.core.methods.tie_radius import split_at_radius
from streams.core.models import create
from streams.errors import ParameterError
from streams.lab.measures.calibration import reliability
from streams.lab.measures.correlation import kendall, ndcg, pearson, spearman
from streams.lab.measures.prediction import accuracy, accuracy_bound, log_loss, perplexity
from streams.lab.protocols.prequential import predict_prequentially
from streams.lab.protocols.radius import GRID, tune_radius, with_radius
from tests.core.methods.outcomes import drawn, pairs_of, scores_of

if TYPE_CHECKING:
    from streams.core.models.base import Floats

vectors = st.integers(2, 8).flatmap(
    lambda size: st.tuples(*(arrays(np.float64, size, elements=st.integers(-5, 5).map(float)) for _ in range(2)))
)


@given(vectors)
def test_correlations_are_scipy_s(two: tuple[Floats, Floats]) -> None:
    scores, gold = two
    if np.ptp(scores) == 0 or np.ptp(gold) == 0:
        assert np.isnan([pearson(scores, gold), spearman(scores, gold), kendall(scores, gold)]).all()
        return
    assert pearson(scores, gold) == pytest.approx(stats.pearsonr(scores, gold).statistic, abs=1e-9)
    assert spearman(scores, gold) == pytest.approx(stats.spearmanr(scores, gold).statistic, abs=1e-9)
    assert kendall(scores, gold) == pytest.approx(stats.kendalltau(scores, gold).statistic, abs=1e-9)


def test_ndcg_is_worked_out_by_hand() -> None:
    gold = np.array([3.0, 2.0, 0.0, 1.0])
    found = 2 / np.log2(2) + 3 / np.log2(3) + 1 / np.log2(4) + 0
    best = 3 / np.log2(2) + 2 / np.log2(3) + 1 / np.log2(4)
    assert ndcg(np.array([5.0, 9.0, 1.0, 2.0]), gold) == pytest.approx(found / best)
    assert ndcg(np.array([5.0, 9.0, 1.0, 2.0]), gold, top=1) == pytest.approx(2 / 3)
    assert ndcg(gold, gold) == pytest.approx(1.0)


def test_equal_scores_share_their_gains_in_ndcg() -> None:
    gold = np.array([1.0, 0.0])
    either = [ndcg(np.array(order), gold) for order in ([2.0, 1.0], [1.0, 2.0])]
    assert ndcg(np.ones(2), gold) == pytest.approx(np.mean(either))


def test_ndcg_refuses_gains_below_zero() -> None:
    with pytest.raises(ParameterError, match="cannot be gains"):
        ndcg(np.array([1.0, 2.0]), np.array([-1.0, 1.0]))


def test_carving_is_the_integral_of_the_normal() -> None:
    normal = stats.norm(0.7, np.sqrt(1.3))
    expected = [normal.sf(0.4), normal.cdf(0.4) - normal.cdf(-0.4), normal.cdf(-0.4)]
    np.testing.assert_allclose(split_at_radius(np.array(0.7), 1.3, 0.4), expected, atol=1e-12)


def test_a_lead_of_many_deviations_is_finite_and_not_negative() -> None:
    sure = split_at_radius(np.array([60.0, -60.0]), 1.0, 0.1)
    assert np.isfinite(sure).all()
    assert sure.min() >= 0.0


def test_perplexity_is_two_to_the_cross_entropy_in_bits() -> None:
    probabilities = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    assert perplexity(probabilities, np.array([0, 0])) == pytest.approx(2 ** ((1 + 2) / 2))
    assert log_loss(probabilities, np.array([0, 0])) == pytest.approx(1.5 * np.log(2))


def test_what_was_held_impossible_costs_everything() -> None:
    assert perplexity(np.array([[1.0, 0.0, 0.0]]), np.array([1])) == np.inf


@pytest.mark.parametrize("measure", [log_loss, perplexity, accuracy, reliability])
def test_nothing_can_be_measured_on_nothing(measure: object) -> None:
    with pytest.raises(ParameterError, match="at least one"):
        measure(np.empty((0, 3)), np.empty(0, int))  # type: ignore[operator]


def test_every_outcome_needs_its_three_probabilities() -> None:
    with pytest.raises(ParameterError, match="2 outcomes need as many rows"):
        log_loss(np.full((1, 3), 1 / 3), np.array([0, 1]))


def test_a_guess_among_equals_is_right_by_chance() -> None:
    assert accuracy(np.full((300, 3), 1 / 3), np.arange(300) % 3) == pytest.approx(1 / 3)


def test_the_bound_of_accuracy_is_the_best_constant_choice_of_each_pair() -> None:
    pairs = pairs_of([(0, 1, 0), (1, 0, 2), (0, 1, 1), (1, 2, 1), (2, 1, 1), (2, 1, 0)], systems=3)
    assert accuracy_bound(pairs) == pytest.approx((2 + 2) / 6)


def test_no_model_is_above_the_bound_of_accuracy() -> None:
    test = drawn(500, seed=1)
    knowing = create_method("independent-pairs").fit(test).probabilities(test)
    assert accuracy(knowing, test.outcome) == pytest.approx(accuracy_bound(test))
    other = create_method("trueskill").fit(drawn(500)).probabilities(test)
    assert accuracy(other, test.outcome) <= accuracy_bound(test)


def test_the_radius_chosen_is_the_best_of_the_grid() -> None:
    fitted, development = create_method("hopkins-may").fit(drawn(1000)), drawn(1000, seed=1)
    found = {
        radius: perplexity(with_radius(fitted, radius).probabilities(development), development.outcome)
        for radius in GRID
    }
    best = tune_radius(fitted, development)
    assert best.value == min(found.values()) == found[best.radius]
    assert best.value < max(found.values())


def test_a_radius_for_accuracy_calls_fewer_ties() -> None:
    fitted, development = create_method("trueskill").fit(drawn(1000)), drawn(1000, seed=1)
    best = tune_radius(fitted, development, measure="accuracy", grid=(0.01, 5.0))
    assert best.radius == 0.01
    assert best.value == accuracy(best.fitted.probabilities(development), development.outcome)


def test_a_model_without_deviations_has_nothing_to_carve() -> None:
    with pytest.raises(ParameterError, match="needs scores with deviations"):
        with_radius(Fitted(outcomes=np.zeros((2, 2, 3))), 0.1)


def test_true_probabilities_are_calibrated_and_overconfident_ones_are_not() -> None:
    random = np.random.default_rng(0)
    true = random.dirichlet([2.0, 1.0, 2.0], size=20_000)
    came = (random.random((20_000, 1)) > true.cumsum(axis=1)).sum(axis=1)
    bins = reliability(true, came)
    assert bins.counts.sum() == 60_000
    assert bins.error < 0.01
    sharp = true**3 / (true**3).sum(axis=1, keepdims=True)
    assert reliability(sharp, came).error > 0.08


def test_a_certain_prediction_falls_in_the_last_bin() -> None:
    bins = reliability(np.array([[1.0, 0.0, 0.0]]), np.array([0]), bins=4)
    assert bins.counts.tolist() == [2, 0, 0, 1]
    assert bins.error == 0.0


def test_every_outcome_is_predicted_before_it_is_learned() -> None:
    pairs = drawn(40)
    held = predict_prequentially(create("trueskill", {}), pairs)
    for row in (0, 7, 39):
        before = create_method("trueskill").fit(pairs.select(np.arange(row)))
        np.testing.assert_allclose(held[row], before.predict(int(pairs.a[row]), int(pairs.b[row])), atol=1e-12)


def test_a_block_is_predicted_from_what_came_before_it() -> None:
    pairs, model = drawn(25), create("trueskill", {})
    held = predict_prequentially(model, pairs, block=10)
    before = create_method("trueskill").fit(pairs.select(np.arange(20)))
    np.testing.assert_allclose(held[20:], before.probabilities(pairs.select(np.arange(20, 25))), atol=1e-12)
    np.testing.assert_allclose(model.scores()[0], scores_of(create_method("trueskill").fit(pairs)), atol=1e-12)


def test_the_examples_duel_is_between_two() -> None:
    assert Pairs.parse(">").systems == ("0", "1")


def test_scores_that_are_certain_are_carved_as_a_step() -> None:
    assert split_at_radius(np.array([0.0, 1.0]), 0.0, 0.5).tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
