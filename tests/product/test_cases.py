"""The battery itself: nothing that a campaign can be is left out, and a new model joins without an edit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, ClassVar, Literal

import msgspec
import pytest

from streams.core.matching import POLICIES
from streams.core.models import MODELS, Model, Parameters
from streams.core.models.trueskill import TrueSkillParameters
from tests.core.models.tiny_model import Tiny
from tests.product.cases import CASES, OPTIONS, cases, cases_for
from tests.product.checks import check_numbers, check_text
from tests.product.scenarios import SCENARIOS
from tests.product.variants import VARIANTS, choices, is_accepted, variants


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_choice_of_every_model_is_in_the_battery(model: type[Model]) -> None:
    mine = [variant.settings.parameters for variant in VARIANTS if variant.settings.model == model.name]
    assert mine
    for name, values in choices(model.parameters_type).items():
        assert {settings[name] for settings in mine} == set(values), f"no campaign can have some {name} of {model.name}"


@pytest.mark.parametrize("model", MODELS)
def test_every_option_meets_every_other_in_some_case(model: str) -> None:
    mine = [case.settings() for case in CASES if case.variant.settings.model == model]
    for (one, ones), (other, others) in combinations(OPTIONS.items(), 2):
        met = {(getattr(each, one), getattr(each, other)) for each in mine}
        missing = [(a, b) for a in ones for b in others if (a, b) not in met]
        for a, b in missing:
            assert not any(is_accepted(msgspec.structs.replace(each, **{one: a, other: b})) for each in mine)
    assert {each.policy for each in mine} == set(POLICIES)
    assert {each.stop_confidence for each in mine} == {None, 0.9}


def test_every_scenario_meets_every_mode_and_option() -> None:
    every = frozenset[Any]().union(*(case.values for case in CASES))
    played = [cases_for(number) for number in range(len(SCENARIOS))]
    assert all(frozenset[Any]().union(*(case.values for case in some)) == every for some in played)


class TinyParameters(TrueSkillParameters, frozen=True, kw_only=True):
    """TrueSkill's parameters, and one more choice."""

    profile: Literal["online"] = "online"
    mood: Literal["glad", "sad"] = "glad"


class Choosy(Tiny):
    """A model that nobody has heard of."""

    name: ClassVar[str] = "choosy"
    parameters_type: ClassVar[type[Parameters]] = TinyParameters


def test_a_new_model_with_a_new_parameter_joins_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    models: Mapping[str, type[Model]] = {Choosy.name: Choosy}
    monkeypatch.setitem(MODELS, Choosy.name, Choosy)
    met = {(each.settings.parameters["mood"], each.settings.parameters["ways"]) for each in variants(models)}
    assert met == {(mood, ways) for mood in ("glad", "sad") for ways in ("pairs", "free-for-all")}
    assert {case.settings().parameters["mood"] for case in cases(models)} == {"glad", "sad"}


@pytest.mark.parametrize(
    "text", ['{"a":NaN}', "score nan", "± inf", "-Infinity", "<td>undefined</td>", "Traceback (most"]
)
def test_a_number_that_is_none_is_seen(text: str) -> None:
    with pytest.raises(AssertionError):
        check_text(text)


@pytest.mark.parametrize("text", ["most information", "nan-system", "financial", "system.inf"])
def test_an_ordinary_word_is_none_of_these(text: str) -> None:
    check_text(text)


def test_no_number_hides_in_a_value() -> None:
    check_numbers({"a": [1.0, (2, "x")]})
    with pytest.raises(AssertionError, match=r"\.a\[0\]\[1\] is nan"):
        check_numbers({"a": [(1.0, float("nan"))]})
