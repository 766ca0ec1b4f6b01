"""Predictions before each ranking, and what is made of them, counted out by other ways."""

from __future__ import annotations

import numpy as np
import pytest

from streams.core.methods.rankings import Rankings
from streams.core.models import create
from streams.lab.experiments import Estimate, Log, Result, experiment
from streams.lab.experiments.online import TIES, VARIANTS, order_only, pool_bins, predict_before, summary
from streams.lab.measures.calibration import reliability
from streams.lab.measures.prediction import log_loss
from streams.lab.protocols.prequential import predict_prequentially, predict_ranking_by_ranking
from streams.lab.running.runner import run
from tests.builders import crowd_log, judgment
from tests.lab.logs import rankings


@pytest.mark.parametrize("name", ["trueskill", "trueskill-judges", "grm"])
def test_of_two_systems_each_ranking_is_a_pair(name: str) -> None:
    log = Rankings.of(crowd_log(120))
    np.testing.assert_array_equal(
        predict_ranking_by_ranking(create(name, {}), log), predict_prequentially(create(name, {}), log.pairs, block=1)
    )


def test_the_pairs_of_a_ranking_do_not_tell_of_each_other_and_those_before_do() -> None:
    log = Rankings.of(rankings(30))
    held = predict_ranking_by_ranking(create("trueskill", {}), log)
    model = create("trueskill", {})
    model.grow(len(log.systems), len(log.judges), len(log.segments))
    for number in range(30):
        rows = np.flatnonzero(log.number == number)
        for row in rows:
            assert held[row].tolist() == list(model.predict(int(log.pairs.a[row]), int(log.pairs.b[row])))
        model.apply(log.to_batch(np.array([number])))


def test_ties_so_far_are_those_of_the_rankings_before() -> None:
    log = Rankings.of(rankings(40))
    held = predict_before(TIES, log)
    for row in range(len(log.pairs)):
        before = log.pairs.outcome[log.number < log.number[row]]
        expected = ((before == 1).sum() + 1) / (len(before) + 3)
        assert held[row, 1] == pytest.approx(expected)
    np.testing.assert_allclose(held.sum(axis=1), 1.0)


def test_given_no_tie_a_win_and_a_loss_sum_to_one() -> None:
    found = order_only(np.array([[0.6, 0.2, 0.2], [0.1, 0.5, 0.4]]))
    np.testing.assert_allclose(found, [[0.75, 0.0, 0.25], [0.2, 0.0, 0.8]])


def test_bins_of_campaigns_together_are_bins_of_all_predictions() -> None:
    log = Log.of([*rankings(40), *(judgment(900 + k, campaign="d") for k in range(30))], file="two")
    results = run(experiment("online", {"models": ["trueskill"]}), log).results
    held = [predict_before("trueskill", log.campaigns[name]) for name in ("c", "d")]
    outcomes = [log.campaigns[name].pairs.outcome for name in ("c", "d")]
    whole = reliability(np.concatenate(held), np.concatenate(outcomes), bins=20)
    found = pool_bins(results)
    np.testing.assert_array_equal(found.counts, whole.counts)
    np.testing.assert_allclose(found.predicted, whole.predicted)
    np.testing.assert_allclose(found.observed, whole.observed)
    assert found.error == pytest.approx(whole.error)
    assert results[0].measured["log_loss"] == pytest.approx(log_loss(held[0], outcomes[0]))


def test_a_campaign_of_ties_alone_has_no_order_to_predict() -> None:
    log = Log.of([judgment(k, ranks=(1, 1)) for k in range(5)], file="ties")
    results = run(experiment("online", {}), log).results
    assert {result.measured["order_loss"] for result in results} == {None}


def test_ratings_tell_more_than_ties_where_systems_differ() -> None:
    log = Log.of(rankings(200), file="small")
    losses = {one.cell["model"]: one.measured["log_loss"] for one in run(experiment("online", {}), log).results}
    assert set(losses) == {TIES, *VARIANTS}
    assert losses["trueskill"] < losses[TIES] - 0.1


def test_the_summary_pairs_campaigns_with_the_default() -> None:
    def made_up(campaign: str, model: str, loss: float) -> Result:
        bins = {"counts": [2], "predicted": [0.5], "observed": [0.5]}
        told = {"log_loss": loss, "accuracy": 0.5, "order_loss": loss / 2, "order_accuracy": 0.6}
        return Result({"campaign": campaign, "model": model}, told | bins)

    results = [
        made_up("x", "trueskill", 1.0),
        made_up("y", "trueskill", 0.8),
        made_up("x", "grm", 0.9),
        made_up("y", "grm", 0.9),
    ]
    default, grm = summary(results).rows
    assert (default[0], default[2], default[6]) == ("trueskill", None, None)
    assert [default[1], grm[1]] == pytest.approx([0.9, 0.9])
    for gap, error in ((grm[2], 0.1), (grm[6], 0.05)):
        assert isinstance(gap, Estimate)
        assert (gap.mean, gap.error) == pytest.approx((0.0, error))
