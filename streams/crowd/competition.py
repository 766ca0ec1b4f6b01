"""A published competition: how often each system beat each other system, and the official result."""

from __future__ import annotations

from functools import cached_property
from importlib import resources
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from streams.core.models import Outcome
from streams.core.ranking import clusters
from streams.crowd.truths import quality_of_wins
from streams.errors import ParameterError, suggestion

WMT13_FR_EN: Final = "wmt13_fr-en"

Share = Annotated[float, Meta(ge=0, le=1)]


class OfficialResult(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The official score and rank range of a system."""

    system: str
    score: float
    rank_low: int
    rank_high: int


class Competition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """The published numbers. `win_rates[i][j]` is the share of wins of i over j, without ties.

    >>> wmt13 = Competition.load(WMT13_FR_EN)
    >>> [round(share, 2) for share in wmt13.outcome("UEDIN-HEAFIELD", "SHEF-WPROA")]
    [0.61, 0.19, 0.19]
    """

    campaign: str
    source: str
    comparisons: int
    ties: int
    official: tuple[OfficialResult, ...]
    win_rates: tuple[tuple[Share | None, ...], ...]

    @classmethod
    def load(cls, name: Literal["wmt13_fr-en"]) -> Competition:
        """Return a competition that comes with the package."""
        return msgspec.json.decode(resources.files(__package__).joinpath(f"{name}.json").read_bytes(), type=cls)

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the systems, the best one first."""
        return tuple(row.system for row in self.official)

    @property
    def clusters(self) -> tuple[int, ...]:
        """Return the official clusters, by the same rule as for every leaderboard."""
        best, worst = np.array([(row.rank_low, row.rank_high) for row in self.official]).T
        return tuple(clusters(best, worst).tolist())

    def outcome(self, a: str, b: str) -> Outcome:
        """Return the probabilities that a wins, ties or loses. Ties are equally likely for every pair."""
        rate = self.win_rates[self._place(a)][self._place(b)]
        if rate is None:
            raise ParameterError(f"{self.campaign}: {a!r} has not met {b!r}; choose two different systems")
        tie = self.ties / self.comparisons
        win = (1.0 - tie) * rate
        return Outcome(win, tie, 1.0 - tie - win)

    def quality(self, system: str) -> float:
        """Return the quality that the system's mean share of wins shows."""
        rates = [rate for rate in self.win_rates[self._place(system)] if rate is not None]
        return quality_of_wins(sum(rates) / len(rates))

    def _place(self, system: str) -> int:
        if system not in self._places:
            raise ParameterError(f"{self.campaign}: no system {system!r}; {suggestion(system, self._places)}")
        return self._places[system]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {system: place for place, system in enumerate(self.systems)}
