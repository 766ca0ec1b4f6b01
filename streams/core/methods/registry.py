"""The registry of methods. To add one, write its file and add it to METHODS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streams.core.methods.bradley_terry import BradleyTerry
from streams.core.methods.crowd_bradley_terry import CrowdBradleyTerry
from streams.core.methods.davidson import Davidson
from streams.core.methods.elo import Elo
from streams.core.methods.feedback_arc_set import FeedbackArcSet
from streams.core.methods.glicko import Glicko2
from streams.core.methods.grm_batch import BatchGradedResponse
from streams.core.methods.hopkins_may import HopkinsMayCategorical, HopkinsMayGaussian
from streams.core.methods.hopkins_may_shift import HopkinsMayShift
from streams.core.methods.independent_students import IndependentStudents
from streams.core.methods.most_probable import MostProbable
from streams.core.methods.online import Online
from streams.core.methods.playoffs import Playoffs
from streams.core.methods.reference import AdjustedUniform, IndependentPairs, UniformOutcomes
from streams.core.methods.two_stage import TwoStage
from streams.core.methods.win_shares import Bojar, ExpectedWins, OrigWmt
from streams.core.models import MODELS
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.core.methods.base import Method

METHODS: dict[str, Method] = {
    predictor.name: predictor
    for predictor in (
        UniformOutcomes(),
        AdjustedUniform(),
        IndependentPairs(),
        IndependentStudents(mean="asymmetric"),
        IndependentStudents(mean="arithmetic"),
        IndependentStudents(mean="geometric"),
        OrigWmt(),
        Bojar(),
        ExpectedWins(),
        FeedbackArcSet(),
        MostProbable(),
        Playoffs(),
        BradleyTerry(),
        HopkinsMayGaussian(),
        HopkinsMayShift(),
        HopkinsMayCategorical(),
        Davidson(),
        CrowdBradleyTerry(),
        TwoStage(),
        BatchGradedResponse(),
        Elo(),
        Glicko2(),
        *(Online(model=name) for name, model in MODELS.items() if model.kind == "rankings"),
    )
}


def create_method(name: str, options: Mapping[str, object] | None = None) -> Method:
    """Return a method with these options, or raise ParameterError if an option is wrong.

    >>> create_method("elo", {"k": 32.0})
    Elo(k=32.0)
    """
    if name not in METHODS:
        raise ParameterError(f"no model {name!r}; {suggestion(name, METHODS)}")
    known = METHODS[name]
    try:
        return msgspec.convert(msgspec.structs.asdict(known) | dict(options or {}), type(known), strict=True)
    except msgspec.ValidationError as error:
        fields = ", ".join(known.__struct_fields__) or "none"
        raise ParameterError(f"model {name!r}: {error}; its options: {fields}") from None
