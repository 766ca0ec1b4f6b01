"""Every model that can rank a log, by name: the online models, and the methods on the pairs of a whole log.

A new model joins this list by its card, see `Model.card` and `Method.card`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from streams.core.models import MODELS
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.core.models import Model
    from streams.core.models.card import ModelCard

BASELINE = "baseline"  # of a method: an index, which a command resolves from the name of a system


@dataclass(frozen=True, kw_only=True)
class ModelParameter:
    """A parameter of a model: its values with bounds, its default and its meaning, as text."""

    name: str
    values: str
    default: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class RankingModel:
    """A model that can rank a log.

    A live model also runs in campaigns. `whole_log` is true if all pairs of the log must be in memory. `ranges` are
    the possible rank ranges, the default first. A bootstrap takes `runs` samples by default.
    """

    name: str
    card: ModelCard
    live: bool
    rates: str
    whole_log: bool
    takes_baseline: bool
    ranges: tuple[str, ...]
    runs: int
    parameters_type: type[msgspec.Struct]

    @property
    def live_text(self) -> str:
        """Return whether the model runs in campaigns, in one word."""
        return "yes" if self.live else "no"

    def parameters(self) -> tuple[ModelParameter, ...]:
        """Return the parameters, with bounds, default and meaning.

        >>> RANKING_MODELS["elo"].parameters()[0].values
        'above 0, up to 1e+06'
        """
        ((_, schema),) = msgspec.json.schema_components([self.parameters_type])[1].items()
        return tuple(
            ModelParameter(
                name=name,
                values=_describe_values(about),
                default=_describe_default(about),
                meaning=about.get("description", ""),
            )
            for name, about in schema["properties"].items()
            if name != BASELINE
        )

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        return tuple(name for name in self.parameters_type.__struct_fields__ if name != BASELINE)

    def parse(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Read parameters that are given as text, each by the type of its field.

        >>> RANKING_MODELS["trueskill"].parse({"beta": "2", "ways": "free-for-all"})
        {'beta': 2.0, 'ways': 'free-for-all'}
        """
        self.check_names(texts)
        fields = {field.name: field for field in msgspec.structs.fields(self.parameters_type)}
        values = {}
        for name, text in texts.items():
            try:
                values[name] = msgspec.convert(text, fields[name].type, strict=False)
            except msgspec.ValidationError:
                known = next(each for each in self.parameters() if each.name == name)
                raise ParameterError(
                    f"model {self.name!r}: {name} is {text!r}, but it must be: {known.values}"
                ) from None
        return values

    def check_names(self, given: Mapping[str, object]) -> None:
        """Raise ParameterError if a name is not a parameter of the model."""
        for name in given:
            if name not in self.parameter_names:
                known = ", ".join(self.parameter_names) or "none"
                hint = suggestion(name, self.parameter_names) if self.parameter_names else ""
                hint = f"; {hint}" if hint.startswith("did") else ""
                raise ParameterError(f"model {self.name!r} has no parameter {name!r}{hint}; its parameters: {known}")


class RankingModels(Mapping[str, RankingModel]):
    """The online models, and then the methods, which are imported when one of them is asked for."""

    def __getitem__(self, name: str) -> RankingModel:
        return _describe_model(name, MODELS[name]) if name in MODELS else self._methods[name]

    def __iter__(self) -> Iterator[str]:
        return chain(MODELS, self._methods)

    def __len__(self) -> int:
        return len(MODELS) + len(self._methods)

    @cached_property
    def _methods(self) -> dict[str, RankingModel]:
        from streams.core.methods.registry import METHODS

        return {
            name: RankingModel(
                name=name,
                card=method.card,
                live=False,
                rates="rankings",
                whole_log=method.whole_log,
                takes_baseline=BASELINE in method.__struct_fields__,
                ranges=method.ranges,
                runs=method.runs,
                parameters_type=type(method),
            )
            for name, method in METHODS.items()
            if method.card is not None
        }


def _describe_model(name: str, model: type[Model]) -> RankingModel:
    return RankingModel(
        name=name,
        card=model.card,
        live=True,
        rates=model.kind,
        whole_log=False,
        takes_baseline=model.takes_baseline,
        ranges=model.ranges,
        runs=1000,
        parameters_type=model.parameters_type,
    )


RANKING_MODELS = RankingModels()


def find_ranking_model(name: str) -> RankingModel:
    """Return a model by name, or raise ParameterError with the closest name.

    >>> find_ranking_model("expected-wins").live
    False
    """
    if name in RANKING_MODELS:
        return RANKING_MODELS[name]
    from streams.core.methods.registry import METHODS

    if name in METHODS:
        raise ParameterError(
            f"the model {name!r} predicts judgments but does not rank systems; measure it with `judgestream evaluate`, "
            f"or choose one that `judgestream models` lists"
        )
    raise ParameterError(f"no model {name!r}; {suggestion(name, RANKING_MODELS)}")


def _describe_values(about: Mapping[str, Any]) -> str:
    """Return the values of a parameter in words, from its JSON schema."""
    if "anyOf" in about:
        return " or ".join("null" if part.get("type") == "null" else _describe_values(part) for part in about["anyOf"])
    if "enum" in about:
        return ", ".join(map(str, about["enum"]))
    if about.get("type") == "boolean":
        return "true, false"
    low = next((f"{word}{about[key]:g}" for key, word in _LOW.items() if key in about), "")
    high = next((f"{word}{about[key]:g}" for key, word in _HIGH.items() if key in about), "")
    kind = "whole numbers, " if about.get("type") == "integer" else ""
    return kind + (", ".join(filter(None, (low, high))) or "any")


_LOW = {"minimum": "from ", "exclusiveMinimum": "above "}
_HIGH = {"maximum": "up to ", "exclusiveMaximum": "below "}


def _describe_default(about: Mapping[str, Any]) -> str:
    if "default" not in about:
        return "by profile"
    default = about["default"]
    return "null" if default is None else f"{default:.4g}" if isinstance(default, float) else str(default)
