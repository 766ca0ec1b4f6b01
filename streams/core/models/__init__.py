"""The online models by name. To add one, write its file and add its class to MODELS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.models.assessment import Assessment
from streams.core.models.base import (
    Axis,
    JudgeFacts,
    JudgmentBatch,
    Model,
    Outcome,
    PairParameters,
    Parameters,
    parameters_of,
)
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
    """Return a new model, or raise ParameterError if its parameters are wrong.

    >>> create("trueskill", {"beta": 2.0}).name
    'trueskill'
    """
    if name not in MODELS:
        raise ParameterError(f"no model {name!r}; {suggestion(name, MODELS)}")
    model = MODELS[name]
    return model(parameters_of(model, parameters), budget=budget)


__all__ = [
    "MODELS",
    "Axis",
    "JudgeFacts",
    "JudgmentBatch",
    "Model",
    "Outcome",
    "PairParameters",
    "Parameters",
    "create",
    "parameters_of",
]
