"""The list of models that rank: each has a card, described parameters, and a test against an outside computation."""

from __future__ import annotations

from importlib import import_module

import pytest

from streams.core.methods.registry import METHODS
from streams.core.models import MODELS
from streams.core.ranking import ENGINES
from streams.core.ranking_models import RANKING_MODELS, RankingModel, find_ranking_model
from streams.errors import ParameterError

SHIFT = "test_the_shifting_sampler_settles_where_the_expected_shifts_cancel"
COPY = "test_a_copy_of_a_system_lifts_origwmt_as_bojar_et_al_say_and_not_their_own_score"
# What each model is held against. A new model fails the first test below until it is listed here.
ORACLES = {
    "trueskill": "core.models.test_trueskill.test_ten_thousand_two_way_updates_equal_the_trueskill_package",
    "trueskill-judges": "core.models.test_reliable.test_an_update_has_the_moments_of_the_exact_posterior",
    "grm": "core.models.test_grm.test_a_step_is_the_joint_one_of_linear_algebra",
    "assessment": "core.models.test_assessment.test_at_any_moment_the_scores_are_those_of_the_whole_list",
    "origwmt": f"core.methods.test_models.{COPY}",
    "bojar": f"core.methods.test_models.{COPY}",
    "expected-wins": "cli.commands.test_rank.test_expected_wins_of_wmt13_are_published_scores_and_ranges",
    "feedback-arc-set": "core.methods.test_orderings.test_a_feedback_arc_set_is_the_least_of_all_permutations",
    "most-probable": "core.methods.test_orderings.test_no_permutation_is_more_probable_than_the_most_probable_ranking",
    "playoffs": "core.methods.test_orderings.test_playoffs_have_the_places_of_playoffs_played_one_by_one",
    "bradley-terry": "core.methods.test_pair_scores.test_bradley_terry_is_the_maximum_of_its_posterior",
    "bradley-terry-ties": "core.methods.test_posteriors.test_davidson_is_the_maximum_of_its_posterior",
    "crowd-bt": "core.methods.test_posteriors.test_crowd_bradley_terry_is_the_maximum_of_its_posterior",
    "two-stage": "core.methods.test_posteriors.test_the_two_stages_are_at_the_maximum_of_their_posterior",
    "hopkins-may": "core.methods.test_hopkins_may.test_the_gaussian_sampler_finds_the_integral",
    "hopkins-may-categorical": "core.methods.test_hopkins_may.test_the_categorical_sampler_finds_the_sum",
    "hopkins-may-shift": f"core.methods.test_hopkins_may.{SHIFT}",
    "grm-batch": "core.methods.test_grm_fit.test_the_mode_of_theta_is_where_the_posterior_is_highest",
    "elo": "core.methods.test_models.test_elo_moves_two_ratings_by_what_was_not_expected",
    "glicko2": "core.methods.test_models.test_glicko_2_rates_glickman_s_own_example",
}
every = pytest.mark.parametrize("model", RANKING_MODELS.values(), ids=RANKING_MODELS)


def test_every_model_is_held_against_an_outside_computation() -> None:
    assert set(ORACLES) == set(RANKING_MODELS)
    for place in ORACLES.values():
        module, _, name = place.rpartition(".")
        assert callable(getattr(import_module(f"tests.{module}"), name))


def test_every_online_model_and_every_method_with_a_card_can_rank() -> None:
    methods = {name for name, method in METHODS.items() if method.card is not None}
    assert set(RANKING_MODELS) == set(MODELS) | methods
    assert not set(MODELS) & methods
    assert {name for name, model in RANKING_MODELS.items() if model.live} == set(MODELS)


@every
def test_a_card_is_short_and_complete(model: RankingModel) -> None:
    for text in model.card:
        assert 5 < len(text) <= 110
        assert "|" not in text
    assert set(model.ranges) <= set(ENGINES)
    assert model.runs >= 10


@every
def test_every_parameter_has_values_a_default_and_a_meaning(model: RankingModel) -> None:
    for parameter in model.parameters():
        assert parameter.values
        assert parameter.default
        assert parameter.meaning.endswith("."), f"{model.name}: {parameter.name} has no description"


@every
def test_the_default_of_a_parameter_can_be_given_as_text(model: RankingModel) -> None:
    given = {each.name: each.default for each in model.parameters() if each.default not in ("-", "by profile")}
    assert set(model.parse(given)) == set(given)


@pytest.mark.parametrize(
    ("name", "texts", "words"),
    [
        ("elo", {"kk": "1"}, "model 'elo' has no parameter 'kk'; did you mean 'k'\\?; its parameters: k"),
        ("elo", {"k": "fast"}, "model 'elo': k is 'fast', but it must be: above 0, up to 1e\\+06"),
        ("elo", {"k": "-1"}, "k is '-1', but it must be: above 0"),
        ("hopkins-may", {"sweeps": "2.5"}, "sweeps is '2.5', but it must be: whole numbers, from 1"),
        ("trueskill", {"ways": "both"}, "ways is 'both', but it must be: free-for-all, pairs"),
        ("bojar", {"k": "1"}, "has no parameter 'k'; its parameters: none"),
        ("grm-batch", {"baseline": "1"}, "has no parameter 'baseline'; its parameters: none"),
    ],
)
def test_a_wrong_parameter_is_named_with_the_right_ones(name: str, texts: dict[str, str], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        RANKING_MODELS[name].parse(texts)


@pytest.mark.parametrize("name", ["uniform", "adjusted-uniform", "independent-pairs", "independent-students-geometric"])
def test_a_method_that_only_predicts_is_refused_with_the_place_where_it_works(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}' predicts judgments but does not rank .*`judgestream evaluate`"):
        find_ranking_model(name)
