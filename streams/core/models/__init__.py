"""The models by name; a new one is its own file and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.models.assessment import Assessment
from streams.core.models.base import Axis, JudgmentBatch, Model, Outcome, Parameters, parameters_of
from streams.core.models.grm import GradedResponse
from streams.core.models.reliable import ReliableTrueSkill
from streams.core.models.trueskill import TrueSkill
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

MODELS: dict[str, type[Model]] = {
    model.name: model for model in (TrueSkill, ReliableTrueSkill, GradedResponse, Assessment)
}


def create(name: str, parameters: Mapping[str, object], *, budget: int | None = None) -> Model:
    """Make a model with its parameters checked.

    >>> create("trueskill", {"beta": 2.0}).name
    'trueskill'
    """
    if name not in MODELS:
        raise ParameterError(f"no model {name!r}; {suggestion(name, MODELS)}")
    model = MODELS[name]
    return model(parameters_of(model, parameters), budget=budget)


__all__ = ["MODELS", "Axis", "JudgmentBatch", "Model", "Outcome", "Parameters", "TrueSkill", "create", "parameters_of"]
