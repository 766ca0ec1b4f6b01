"""The combinations of model, mode and options that the battery runs: every pair of choices occurs in some case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from streams.core.matching import POLICIES
from streams.core.models import MODELS, Model
from streams.wire.events import CampaignSettings
from tests.product.variants import Row, Variant, choices, cover_pairs, variant_of

SEGMENTS = tuple(f"segment-{number}" for number in range(12))
OPTIONS: dict[str, tuple[Any, ...]] = {
    "policy": tuple(POLICIES),
    "stop_confidence": (None, 0.9),
    "ways": (2, 5),
    "segment_choice": ("least", "information"),
    "segments": ((), SEGMENTS),
    "replicas": (0, 40),
}


@dataclass(frozen=True, eq=False)
class Case:
    """A model in one mode, with options."""

    variant: Variant

    def __str__(self) -> str:
        chosen = self.variant.settings
        words = {
            chosen.policy: True,
            f"{chosen.ways}ways": True,
            "stop": chosen.stop_confidence,
            "items": chosen.segment_choice == "information",
            "named": chosen.segments,
            "bootstrap": chosen.replicas,
        }
        return " ".join([str(self.variant), *(word for word, holds in words.items() if holds)])

    @property
    def values(self) -> frozenset[tuple[Any, ...]]:
        """Return its modes and options, each of them with the model."""
        settings = self.variant.settings
        options = {name: getattr(settings, name) for name in OPTIONS}
        return frozenset((settings.model, *each) for each in (*settings.parameters.items(), *options.items()))

    def settings(self, **more: Any) -> CampaignSettings:
        return msgspec.structs.replace(self.variant.settings, **more)


def cases(models: Mapping[str, type[Model]] = MODELS) -> list[Case]:
    """Return cases with every mode of a model, every option, and every pair of them that a campaign accepts."""
    found = []
    for name, model in models.items():
        offered = choices(model.parameters_type)

        def variant(row: Row, name: str = name, offered: Mapping[str, Row] = offered) -> Variant | None:
            modes, options = row[: len(offered)], row[len(offered) :]
            return variant_of(name, dict(zip(offered, modes, strict=True)), **dict(zip(OPTIONS, options, strict=True)))

        rows = cover_pairs([*offered.values(), *OPTIONS.values()], allowed=variant)
        found += [Case(each) for each in map(variant, rows) if each is not None]
    return sorted(found, key=str)


CASES = cases()


def cases_for(number: int) -> list[Case]:
    """Return cases for one of several scenarios: every mode and option of every model, but not every pair of them.

    The cases come in another order for each scenario, so that its number decides which ones are chosen.
    """
    start = number % len(CASES)
    left = {case: case.values for case in (*CASES[start:], *CASES[:start])}
    missing = frozenset[Any]().union(*left.values())
    chosen = []
    while missing:
        best = max(left, key=lambda case: len(left[case] & missing))
        missing -= left.pop(best)
        chosen.append(best)
    return chosen
