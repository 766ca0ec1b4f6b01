"""The alarm: more judges favour one system than chance allows, though none of them can be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p
from typing import TYPE_CHECKING

import numpy as np

from streams.core.judges.judge_tests import FEWEST_CELL_UNITS, LEVEL, relative

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.judges.judge_tests import Bools
    from streams.core.judges.residuals import Residuals

TAIL = 1.645  # standard deviations, which chance exceeds in 5 %
CHANCE = 0.05


@dataclass(frozen=True, kw_only=True)
class FavouredSystem:
    """A system that more judges favour, or oppose, than chance allows. `expected` of them would by chance."""

    system: str
    against: bool
    judges: int
    tested: int
    expected: float

    @property
    def message(self) -> str:
        """The alarm in words."""
        verb = "oppose" if self.against else "favour"
        return (
            f"{self.judges} of {self.tested} judges {verb} {self.system} more than the other judges' votes predict; "
            f"by chance it would be about {self.expected:.0f}"
        )


def favoured_systems(systems: Sequence[str], found: Residuals, counted: Bools) -> tuple[FavouredSystem, ...]:
    """Return the systems that more of the counted judges favour or oppose than chance allows."""
    tested = (found.cell_units >= FEWEST_CELL_UNITS) & counted[found.cell_judge]
    sums = relative(found.own_favour, np.where(tested, found.cell_system, -1), tested)
    limit = LEVEL / max(2 * len(systems), 1)
    alarms = []
    counts = np.bincount(found.cell_system[tested], minlength=len(systems)).tolist()
    far = {side: found.cell_system[tested & (sums.excess(side) > TAIL)] for side in (1, -1)}
    favour = {side: np.bincount(each, minlength=len(systems)).tolist() for side, each in far.items()}
    for s, system in enumerate(systems):
        count = counts[s]
        for side in (1, -1):
            many = favour[side][s]
            if many and is_rare(many, count, CHANCE, limit):
                alarms.append(
                    FavouredSystem(system=system, against=side < 0, judges=many, tested=count, expected=CHANCE * count)
                )
    return tuple(alarms)


def is_rare(least: int, count: int, chance: float, limit: float) -> bool:
    """Return whether the probability of at least so many successes is below a limit.

    Mostly it is not, because that of exactly so many is above it already.

    >>> is_rare(2, 2, 0.5, 0.26), is_rare(2, 2, 0.5, 0.25)
    (True, False)
    """
    return binomial(least, count, chance) < limit and binomial_tail(least, count, chance) < limit


def binomial_tail(least: int, count: int, chance: float) -> float:
    """Return the probability of at least so many successes.

    >>> round(binomial_tail(2, 2, 0.5), 3)
    0.25
    """
    return fsum(binomial(k, count, chance) for k in range(least, count + 1))


def binomial(successes: int, count: int, chance: float) -> float:
    """Return the probability of exactly so many successes.

    >>> round(binomial(1, 2, 0.5), 3)
    0.5
    """
    way = lgamma(count + 1) - lgamma(successes + 1) - lgamma(count - successes + 1)
    return exp(way + successes * log(chance) + (count - successes) * log1p(-chance))
