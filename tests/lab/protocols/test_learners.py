"""What learns in the experiments finds what is there, and from nothing but what it was given."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest
from scipy import stats

from streams.core.matching import find_policy
from streams.core.methods.pairs import Pairs
from streams.core.methods.rankings import Rankings
from streams.core.methods.wmt import wmt_runs
from streams.core.models import create
from streams.errors import ParameterError
from streams.lab.experiments import Log, experiment
from streams.lab.experiments.items import information
from streams.lab.measures.correlation import kendall
from streams.lab.protocols.asking import ask
from streams.lab.protocols.baselines import WITH_BASELINE, draw_with_baseline, scores_with_baseline
from streams.lab.protocols.gold import official_order, official_scores, pair_counts
from streams.lab.protocols.learners import PRINTED, SELECTS, WMT, learn, learn_by_selection, printed_settings
from tests.core.methods.outcomes import QUALITIES, drawn, scores_of
from tests.lab.logs import rankings


@pytest.mark.parametrize(
    "name", ["expected-wins", "hopkins-may", "hopkins-may-shift", WMT, SELECTS, PRINTED, "trueskill"]
)
def test_every_model_of_the_paper_finds_the_order_in_a_pool(name: str) -> None:
    fitted = learn(name, drawn(4000, seed=1), 2000, np.random.default_rng(1))
    assert kendall(scores_of(fitted), np.array(QUALITIES)) == 1.0


@pytest.mark.parametrize("name", ["hopkins-may", "hopkins-may-shift"])
def test_both_forms_of_hopkins_and_may_predict_with_the_deviation_of_items(name: str) -> None:
    fitted = learn(name, drawn(400), 200, np.random.default_rng(1))
    assert fitted.deviations is not None
    assert fitted.deviations.tolist() == [0.5] * len(QUALITIES)  # Sakaguchi et al. 2014, 3.4: the fixed sigma_a


def test_trueskill_that_selects_agrees_with_the_official_procedure() -> None:
    pool = drawn(600, seed=2)
    random = np.random.default_rng(1)
    ours = np.mean([scores_of(learn_by_selection(pool, len(pool), random)) for _ in range(400)], axis=0)
    theirs = wmt_runs(pair_counts(pool), runs=400, seed=1, resample=False).mean(axis=0)
    np.testing.assert_allclose(ours, theirs, atol=0.08)
    assert np.ptp(theirs) > 1.0


def test_the_printed_settings_are_those_of_the_update_that_the_paper_prints() -> None:
    beta, margin = printed_settings(1)
    assert (beta, margin) == (0.025 * 1 * 0.5**2, 0.25)
    c = sqrt(2.0 * beta**2 + 2.0 * 0.5**2)
    v = stats.norm.pdf(-margin / c) / stats.norm.cdf(-margin / c)  # one win between equals
    fitted = learn_by_selection(Pairs.parse(">"), 1, np.random.default_rng(1), printed=True)
    np.testing.assert_allclose(scores_of(fitted), [0.25 / c * v, -0.25 / c * v], rtol=1e-9)


@pytest.mark.parametrize("name", ["uniform", "variance", "information"])
def test_a_policy_is_answered_from_the_pool_and_the_model_learns_the_answers(name: str) -> None:
    pool = drawn(300, seed=3)
    model = create("trueskill", {})
    asked = ask(find_policy(name), model, pool, 80, np.random.default_rng(1))
    wins, ties = pool.counts()
    for a, b, outcome in zip(asked.a, asked.b, asked.outcome, strict=True):
        assert (wins[a, b], ties[a, b], wins[b, a])[outcome] > 0
    again = create("trueskill", {})
    again.grow(len(pool.systems), 1, 1)
    for k in range(80):
        one = Rankings(
            system=np.array([asked.a[k], asked.b[k]]),
            rank=np.array([[1, 2], [1, 1], [2, 1]][asked.outcome[k]]),
            starts=np.array([0, 2]),
            judge=np.zeros(1, np.int64),
            segment=np.zeros(1, np.int64),
            systems=pool.systems,
            judges=("j",),
            segments=("s",),
        )
        again.apply(one.to_batch(np.array([0])))
    np.testing.assert_array_equal(model.scores(), again.scores())


def test_a_pool_without_the_pairs_that_are_asked_for_is_refused() -> None:
    pool = drawn(300).select(np.empty(0, np.int64))
    with pytest.raises(ParameterError, match="requests pairs that the log does not have"):
        ask(find_policy("uniform"), create("trueskill", {}), pool, 1, np.random.default_rng(1))


@pytest.mark.parametrize("name", WITH_BASELINE)
def test_comparisons_with_one_baseline_find_the_order_of_the_others(name: str) -> None:
    data = Rankings.of(rankings(900, seed=4))
    baseline = 2
    training = draw_with_baseline(data, baseline, 900, np.random.default_rng(1))
    assert len(training) == 900
    assert np.all((training.a == baseline) | (training.b == baseline))
    scores = scores_with_baseline(name, training, baseline)
    others = np.array([0, 1, 3, 4])
    assert kendall(scores[others], -others.astype(float)) == 1.0


def test_gold_scores_have_the_order_of_the_truth() -> None:
    data = Rankings.of(rankings(600))
    assert official_order(data).tolist() == [0, 1, 2, 3, 4]
    assert kendall(official_scores(data), -np.arange(5.0)) == 1.0


def test_item_information_is_the_expected_curvature_of_the_log_likelihood() -> None:
    thresholds, step = (-0.3, 0.9), 1e-4

    def outcomes(theta: float) -> list[float]:
        above = [1.0, *(1.0 / (1.0 + exp(b - theta)) for b in thresholds), 0.0]
        return [above[k] - above[k + 1] for k in range(3)]

    for theta in (-1.0, 0.2, 1.5):
        around = [outcomes(theta + away) for away in (-step, 0.0, step)]
        curvature = -sum(
            around[1][c] * (log(around[0][c]) - 2.0 * log(around[1][c]) + log(around[2][c])) / step**2 for c in range(3)
        )
        assert information(np.array([theta]), np.array(thresholds))[0] == pytest.approx(curvature, rel=1e-4)


def test_random_judges_cost_correlation() -> None:
    chosen = experiment("noise", {"shares": [0.0, 1.0], "sizes": [400], "models": ["expected-wins"], "repeats": 3})
    log = Log.of(rankings(400, noise=3.0), file="noisy")
    by_share = {0.0: [], 1.0: []}  # type: dict[float, list[float]]
    for cell in chosen.cells(log):
        by_share[cell["noise"]].append(chosen.measure(log, cell)["pearson"])
    assert min(by_share[0.0]) > 0.9
    assert np.mean(by_share[1.0]) < 0.7


def test_systems_far_apart_are_each_a_cluster_of_their_own() -> None:
    chosen = experiment("clusters", {"sizes": [60, 3000], "models": [SELECTS], "runs": 20, "repeats": 1})
    log = Log.of(rankings(600, noise=2.0), file="clear")
    few, many = (chosen.measure(log, cell) for cell in chosen.cells(log))
    assert few["clusters"] < many["clusters"] == 5
    assert [row[2] for row in many["ranks"]] == [1, 2, 3, 4, 5]


def test_a_match_of_many_tells_more_than_one_of_two() -> None:
    chosen = experiment(
        "ways", {"sizes": [30], "ways": [2, 4], "fixed": ["matches"], "repeats": 8, "profile": "online"}
    )
    log = Log.of(rankings(600, noise=1.5), file="log")
    found: dict[int, list[float]] = {2: [], 4: []}
    for cell in chosen.cells(log):
        found[cell["ways"]].append(chosen.measure(log, cell)["accuracy"])
    assert np.mean(found[4]) > np.mean(found[2])


def test_the_log_of_a_selection_counts_who_met_whom() -> None:
    data = rankings(100)
    log = Log.of(data, file="log")
    chosen = experiment("selection")
    met = chosen.measure(log, chosen.cells(log)[0])
    assert met["systems"] == [f"system-{k}" for k in range(5)]
    together = sum({"system-0", "system-3"} <= set(one.systems) for one in data)
    assert met["all"][0][3] == met["all"][3][0] == together
