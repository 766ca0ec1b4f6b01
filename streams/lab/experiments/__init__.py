"""The experiments by name. To add one, write its file and add it to EXPERIMENTS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streams.errors import ParameterError, suggestion
from streams.lab.experiments.abilities import Abilities
from streams.lab.experiments.annotators import Annotators
from streams.lab.experiments.clusters import Clusters
from streams.lab.experiments.competitions import Competitions
from streams.lab.experiments.correlation import Correlation
from streams.lab.experiments.gold import GoldScores
from streams.lab.experiments.items import Items
from streams.lab.experiments.noise import Noise
from streams.lab.experiments.official import OfficialRanking
from streams.lab.experiments.online import OnlinePrediction
from streams.lab.experiments.prediction import Prediction
from streams.lab.experiments.ranking import ExpectedWinsRanking
from streams.lab.experiments.selection import Selection
from streams.lab.experiments.ways import Ways
from streams.lab.running.base import Experiment, Result
from streams.lab.running.log import Log, LogSource
from streams.lab.running.tables import Estimate, ResultTable

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        ExpectedWinsRanking(),
        Prediction(),
        Ways(),
        Selection(),
        Clusters(),
        Correlation(),
        Noise(),
        Items(),
        GoldScores(),
        Competitions(),
        Abilities(),
        OnlinePrediction(),
        Annotators(),
        OfficialRanking(),
    )
}


def experiment(name: str, options: Mapping[str, object] | None = None) -> Experiment:
    """Return an experiment with these options, or raise ParameterError if an option is wrong.

    >>> experiment("prediction", {"repeats": 3}).repeats
    3
    """
    if name not in EXPERIMENTS:
        raise ParameterError(f"no experiment {name!r}; {suggestion(name, EXPERIMENTS)}")
    known = EXPERIMENTS[name]
    try:
        return msgspec.convert(msgspec.to_builtins(known) | dict(options or {}), type(known), strict=True)
    except msgspec.ValidationError as error:
        fields = ", ".join(known.__struct_fields__)
        raise ParameterError(f"experiment {name!r}: {error}; its options: {fields}") from None


__all__ = ["EXPERIMENTS", "Estimate", "Experiment", "Log", "LogSource", "Result", "ResultTable", "experiment"]
