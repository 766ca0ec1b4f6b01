"""What holds of every model of the lab: a new one is picked up from the registry and must pass all of this."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from streams.core.methods import Fitted, Method
from streams.core.methods.registry import METHODS, create_method
from streams.errors import ParameterError
from streams.lab.measures.correlation import kendall
from streams.lab.measures.prediction import log_loss, perplexity
from tests.core.methods.outcomes import QUALITIES, drawn, pairs_of, relabelled, turned

every = pytest.mark.parametrize("model", METHODS.values(), ids=METHODS)
SYSTEMS = len(QUALITIES)
# What is drawn depends on the numbers of the systems; after so many draws that hardly shows.
SAMPLERS = ("hopkins-may", "hopkins-may-categorical", "hopkins-may-shift")
SAMPLED = {name: create_method(name, {"sweeps": 3000}) for name in SAMPLERS}
SAMPLED["playoffs"] = METHODS["playoffs"]
# A search ends when its steps are small, or after a number of them. Everything else is exact but for rounding.
CLOSE = {"grm-batch": 0.01, "bradley-terry-ties": 1e-5, "crowd-bt": 1e-5, "two-stage": 1e-5}
# The paper's estimate is the plain share of ties, and that may be none or all.
SURE = {"adjusted-uniform"}


def steadied(model: Method) -> tuple[Method, float]:
    """Give a model and how close two of its answers are that should be one."""
    return (SAMPLED[model.name], 0.04) if model.name in SAMPLED else (model, CLOSE.get(model.name, 1e-9))


@cache
def fit_300(name: str) -> Fitted:
    """Fit 300 outcomes, once for several tests."""
    return METHODS[name].fit(drawn(300))


@every
def test_the_probabilities_of_every_pair_sum_to_one(model: Method) -> None:
    outcomes = fit_300(model.name).outcomes
    assert outcomes.shape == (SYSTEMS, SYSTEMS, 3)
    np.testing.assert_allclose(outcomes.sum(axis=-1), 1.0, atol=1e-12)
    assert outcomes.min() > 0.0


@every
def test_to_ask_the_other_way_round_turns_the_answer_around_where_the_model_says_so(model: Method) -> None:
    outcomes = fit_300(model.name).outcomes
    same = np.allclose(outcomes, outcomes.transpose(1, 0, 2)[..., ::-1], atol=1e-9)
    assert same is model.antisymmetric


@every
def test_relabelling_systems_relabels_what_is_learned(model: Method) -> None:
    training = drawn(400)
    model, close = steadied(model)
    order = np.random.default_rng(5).permutation(SYSTEMS)
    plain, other = model.fit(training), model.fit(relabelled(training, order))
    np.testing.assert_allclose(other.outcomes[np.ix_(order, order)], plain.outcomes, atol=close)


@every
def test_which_system_of_a_pair_stands_first_does_not_matter(model: Method) -> None:
    training = drawn(400)
    model, close = steadied(model)
    np.testing.assert_allclose(model.fit(turned(training)).outcomes, model.fit(training).outcomes, atol=close)


@every
def test_the_same_outcomes_give_the_same_bits(model: Method) -> None:
    one, two = fit_300(model.name), model.fit(drawn(300))
    np.testing.assert_array_equal(one.outcomes, two.outcomes)
    np.testing.assert_array_equal(one.scores, two.scores)


@every
def test_without_data_no_system_is_better_than_another(model: Method) -> None:
    model, close = steadied(model)
    fitted = model.fit(pairs_of([], systems=3))
    np.testing.assert_allclose(fitted.outcomes.sum(axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(fitted.outcomes[..., 0], fitted.outcomes[..., 2], atol=close)
    assert fitted.scores is None or np.ptp(fitted.scores) <= 3 * close


@every
def test_a_system_that_nobody_judged_can_be_predicted(model: Method) -> None:
    outcomes = model.fit(pairs_of([(0, 1, 0), (1, 0, 2), (0, 1, 1)], systems=3)).outcomes
    assert np.isfinite(outcomes).all()
    assert outcomes[2, 0].min() > 0.0


@pytest.mark.parametrize("model", [model for name, model in METHODS.items() if name not in SURE])
def test_who_won_everything_leaves_the_others_a_chance(model: Method) -> None:
    outcomes = model.fit(pairs_of([(0, 1, 0)] * 200, systems=2)).outcomes
    assert np.isfinite(outcomes).all()
    assert outcomes.min() > 0.0


@every
def test_scores_find_the_order_of_the_systems(model: Method) -> None:
    scores = model.fit(drawn(4000, seed=1)).scores
    assert scores is None or kendall(scores, np.array(QUALITIES)) == 1.0


@every
def test_what_is_learned_predicts_new_outcomes_better_than_chance(model: Method) -> None:
    fitted, test = model.fit(drawn(2000, seed=2)), drawn(2000, seed=3)
    reached = perplexity(fitted.probabilities(test), test.outcome)
    assert reached < 2.95 or model.name == "uniform"
    assert np.isfinite(log_loss(fitted.probabilities(test), test.outcome))


@every
def test_what_was_fitted_can_not_be_changed(model: Method) -> None:
    fitted = model.fit(drawn(50))
    with pytest.raises(ValueError, match="read-only"):
        fitted.outcomes[0, 0, 0] = 1.0


@every
def test_a_prediction_is_what_the_table_says(model: Method) -> None:
    fitted = model.fit(drawn(50))
    assert list(fitted.predict(1, 2)) == fitted.outcomes[1, 2].tolist()


@pytest.mark.parametrize("name", METHODS)
def test_a_model_is_made_by_its_name(name: str) -> None:
    assert create_method(name) == METHODS[name]


def test_a_name_with_a_typo_suggests_the_right_one() -> None:
    with pytest.raises(ParameterError, match="did you mean 'expected-wins'"):
        create_method("expected-win")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("elo", {"k": -1.0}, r"`\$.k`; its options: k"),
        ("elo", {"kay": 1.0}, "kay"),
        ("uniform", {"k": 1.0}, "its options: none"),
        ("hopkins-may", {"burn_in": 200}, "burn_in: 200 leaves none of 200 sweeps"),
    ],
)
def test_a_wrong_option_is_named(name: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        create_method(name, options)
