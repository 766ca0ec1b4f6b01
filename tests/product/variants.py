"""Every model in every mode, derived from the registry: a new model or a new Literal parameter joins by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, product
from typing import Any

from msgspec import inspect

from streams.core.campaign.commands import apply_command
from streams.core.models import MODELS, Model, Parameters, create
from streams.errors import RecordError
from streams.wire.events import CampaignSettings, CampaignStatus, Create
from tests.builders import NOON

SYSTEMS = tuple(f"system-{number}" for number in range(6))
# What a mode may need besides its parameters. The first of these that the model accepts is used.
NEEDS: tuple[dict[str, Any], ...] = (
    {},
    {"budget": 600},
    {"baseline": SYSTEMS[0]},
    {"budget": 600, "baseline": SYSTEMS[0]},
)

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Variant:
    """A model in one mode, with the campaign settings that this mode needs."""

    settings: CampaignSettings
    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.words)

    @cached_property
    def model(self) -> Model:
        return create(self.settings.model, self.settings.parameters, budget=self.settings.budget)


@cache
def choices(parameters: type[Parameters]) -> dict[str, Row]:
    """Return the parameters that are a choice among few values, with these values."""
    found: dict[str, Row] = {}
    for field in inspect.type_info(parameters).fields:  # type: ignore[attr-defined]
        kind = field.type.type if isinstance(field.type, inspect.Metadata) else field.type
        for each in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
            if isinstance(each, inspect.LiteralType):
                found[field.name] = tuple(each.values)
            elif isinstance(each, inspect.BoolType):
                found[field.name] = (False, True)
    return found


def variant_of(model: str, chosen: Mapping[str, Any], **options: Any) -> Variant | None:
    """Return the model with these parameters and options, or None if no campaign can have them."""
    offered = choices(MODELS[model].parameters_type)
    words = (model, *(str(value) for name, value in chosen.items() if len(offered[name]) > 1))
    settings = (CampaignSettings(model=model, parameters=dict(chosen), **needed, **options) for needed in NEEDS)
    accepted = next(filter(is_accepted, settings), None)
    return None if accepted is None else Variant(accepted, words)


def is_accepted(settings: CampaignSettings) -> bool:
    """Return whether a campaign can be created with these settings."""
    now = CampaignStatus(campaign="c", state="open", settings=CampaignSettings(), withdrawn=(), offset=-1)
    try:
        apply_command(now, Create(id="create", campaign="c", at=NOON, settings=settings))
    except RecordError:
        return False
    return True


def cover_pairs(factors: Sequence[Sequence[Any]], *, allowed: Callable[[Row], object]) -> list[Row]:
    """Choose rows until every pair of values that an allowed row has is in a chosen row. The fullest row comes first.

    >>> cover_pairs(["ab", "xy", "01"], allowed=lambda row: True)
    [('a', 'x', '0'), ('a', 'y', '1'), ('b', 'x', '1'), ('b', 'y', '0')]
    """
    size = min(2, len(factors))
    left = {row: frozenset(combinations(enumerate(row), size)) for row in product(*factors) if allowed(row)}
    missing = frozenset[Any]().union(*left.values())
    chosen: list[Row] = []
    while missing:
        best = max(left, key=lambda row: len(left[row] & missing))
        missing -= left.pop(best)
        chosen.append(best)
    return chosen


def variants(models: Mapping[str, type[Model]] = MODELS) -> list[Variant]:
    """Return the models of the registry, with every value of every choice and every pair of them."""
    found: list[Variant | None] = []
    for name, model in models.items():
        offered = choices(model.parameters_type)

        def variant(row: Row, name: str = name, offered: Mapping[str, Row] = offered) -> Variant | None:
            return variant_of(name, dict(zip(offered, row, strict=True)))

        found += map(variant, cover_pairs([*offered.values()], allowed=variant))
    return [each for each in found if each is not None]


VARIANTS = variants()
