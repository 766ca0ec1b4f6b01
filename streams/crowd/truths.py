"""The truth behind a simulated crowd: how good each system is and how often it wins, from skills or a real log."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from math import isfinite, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Protocol

from streams.core.models import Outcome
from streams.errors import FormatError, ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np

    from streams.core.ranking import PairCounts

_NORMAL = NormalDist()
NOISE = sqrt(2.0)  # deviation of the difference of two outputs, each with a deviation of one
MARGIN = NOISE * _NORMAL.inv_cdf(0.6)  # then two equal systems tie in a fifth of the judgments


class Truth(Protocol):
    """The systems, and the outcome of a match of two. If the order is known, the best system comes first."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the systems."""

    def outcome(self, a: str, b: str) -> Outcome:
        """Return the probabilities that a wins, ties or loses. Raise ParameterError if they are not known."""

    def quality(self, system: str) -> float:
        """Return the mean quality of a system's outputs, whose deviation is one. Raise ParameterError if unknown."""


def quality_of_wins(share: float) -> float:
    """Return the quality of a system that wins this share of its matches against systems of quality 0.

    >>> quality_of_wins(0.5)
    0.0
    """
    return NOISE * _NORMAL.inv_cdf(share)


@dataclass(frozen=True)
class Skills:
    """Latent skills. The quality of an output is normal around the skill, with deviation one. Close outputs tie.

    >>> [round(share, 2) for share in Skills({"a": 1.0, "b": 0.0}).outcome("a", "b")]
    [0.67, 0.16, 0.17]
    """

    skills: Mapping[str, float]

    @classmethod
    def draw(cls, count: int, *, random: np.random.Generator) -> Skills:
        """Return random skills of `count` systems. The first one is the best.

        >>> import numpy as np
        >>> Skills.draw(3, random=np.random.default_rng(1)).systems
        ('system-1', 'system-2', 'system-3')
        """
        ordered = sorted(random.normal(size=count).tolist(), reverse=True)
        return cls({f"system-{place}": skill for place, skill in enumerate(ordered, start=1)})

    @classmethod
    def read(cls, file: Path) -> Skills:
        """Read a CSV file with `system,skill` on each line."""
        skills: dict[str, float] = {}
        try:
            with file.open(newline="", encoding="utf-8") as stream:
                for line, row in enumerate(csv.reader(stream), start=1):
                    if row:
                        name, skill = _skill(row, f"{file}:{line}")
                        if name in skills:
                            raise FormatError(f"{file}:{line}: the system {name!r} is listed twice")
                        skills[name] = skill
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise FormatError(f"{file}: can't be read: {error}") from None
        if len(skills) < 2:
            raise FormatError(f"{file}: a match needs two systems; write one system,skill per line")
        return cls(skills)

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the systems, the best one first."""
        return tuple(sorted(self.skills, key=lambda system: -self.skills[system]))

    def outcome(self, a: str, b: str) -> Outcome:
        """Return the probabilities that a wins, ties or loses."""
        gap = self.quality(a) - self.quality(b)
        win, loss = (_NORMAL.cdf((way * gap - MARGIN) / NOISE) for way in (1, -1))
        return Outcome(win, 1.0 - win - loss, loss)

    def quality(self, system: str) -> float:
        """Return the skill of a system."""
        if system not in self.skills:
            raise ParameterError(f"the skill of the system {system!r} is not known; {suggestion(system, self.skills)}")
        return self.skills[system]


def _skill(row: list[str], place: str) -> tuple[str, float]:
    try:
        name, text = row
        skill = float(text)
    except ValueError:
        skill = float("nan")
    if not isfinite(skill):
        raise FormatError(f"{place}: {','.join(row)!r} is not system,skill; write for example uedin,0.7")
    return name.strip(), skill


@dataclass(frozen=True)
class Oracle:
    """A real log: each answer is the outcome of a random judgment of the same pair.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> from streams.core.ranking import PairCounts
    >>> real = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("b", "a"), ranks=(2, 1), at=EPOCH)
    >>> Oracle("c", PairCounts.of([real])).outcome("a", "b")
    Outcome(win=1.0, tie=0.0, loss=0.0)
    """

    name: str
    counts: PairCounts

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the systems, sorted by name."""
        return self.counts.systems

    def outcome(self, a: str, b: str) -> Outcome:
        """Return the shares of wins, ties and losses of a in the judgments of the two systems."""
        i, j = self._place(a), self._place(b)
        met = (self.counts.wins[i, j], self.counts.ties[i, j], self.counts.wins[j, i])
        total = sum(met)
        if not total:
            raise ParameterError(f"{self.name}: no judgment compares {a!r} with {b!r}")
        return Outcome(*(float(each / total) for each in met))

    def quality(self, system: str) -> float:
        """Return the quality that the system's share of wins shows. A tie is half a win; one more judgment is a tie."""
        place = self._place(system)
        wins, ties = float(self.counts.wins[place].sum()), float(self.counts.ties[place].sum())
        losses = float(self.counts.wins[:, place].sum())
        return quality_of_wins((wins + ties / 2 + 0.5) / (wins + ties + losses + 1.0))

    def _place(self, system: str) -> int:
        try:
            return self.counts.systems.index(system)
        except ValueError:
            hint = suggestion(system, self.counts.systems)
            raise ParameterError(f"{self.name}: no system {system!r}; {hint}") from None
