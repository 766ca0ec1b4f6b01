"""Compare every system with every other: shares of wins, and a sign test of each difference."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log
from typing import TYPE_CHECKING, Literal

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints
    from streams.core.ranking import PairCounts

STARS = ((0.01, "‡"), (0.05, "†"), (0.10, "⋆"))

Sides = Literal[1, 2]


def sign_test(wins: int, losses: int, *, sides: Sides = 2) -> float:
    """Return the p-value of the sign test: one tail, or both, of the binomial distribution with 1/2. Ties are ignored.

    >>> sign_test(8, 2), sign_test(8, 2, sides=1)
    (0.109375, 0.0546875)
    """
    if wins < 0 or losses < 0:
        raise ParameterError(f"{wins} wins and {losses} losses; a count must be 0 or more")
    count = wins + losses
    tail = sum(_probability(count, k) for k in range(min(wins, losses) + 1))
    return min(1.0, sides * tail)


def _probability(count: int, k: int) -> float:
    return exp(lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1) - count * log(2.0))


@dataclass(frozen=True, kw_only=True)
class HeadToHead:
    """As in the findings of WMT13, Tables 21 to 30: [row, column] is how often the column's system beat the row's."""

    systems: tuple[str, ...]
    shares: Floats  # NaN for pairs without a win
    p: Floats

    @classmethod
    def of(cls, counts: PairCounts, *, sides: Sides = 1) -> HeadToHead:
        """Test every pair. The sign test of the findings has one side: the data decide which system is the better one.

        >>> from streams.core.ranking import PairCounts
        >>> table = HeadToHead.of(PairCounts(systems=("a", "b"), wins=np.array([[0, 9], [1, 0]]),
        ...                                  ties=np.zeros((2, 2), int), judgments=np.array([10, 10])))
        >>> table.cell(0, 1), table.cell(1, 0), table.cell(0, 0)
        ('.10†', '.90†', '–')
        """
        size = len(counts.systems)
        p = np.ones((size, size))
        for i, j in zip(*np.triu_indices(size, 1), strict=True):
            p[i, j] = p[j, i] = sign_test(int(counts.wins[i, j]), int(counts.wins[j, i]), sides=sides)
        return cls(systems=counts.systems, shares=counts.head_to_head().T, p=p)

    def star(self, row: int, column: int) -> str:
        """Return ‡ for p <= 0.01, † for 0.05, ⋆ for 0.10, else nothing."""
        return next((star for level, star in STARS if self.p[row, column] <= level), "")

    def cell(self, row: int, column: int) -> str:
        """Return the share with its star."""
        share = self.shares[row, column]
        return "–" if np.isnan(share) else f"{share:.2f}".removeprefix("0") + self.star(row, column)

    def ordered(self, order: Ints) -> HeadToHead:
        """Return the table with its systems in another order."""
        grid = np.ix_(order, order)
        return HeadToHead(systems=tuple(self.systems[i] for i in order), shares=self.shares[grid], p=self.p[grid])
