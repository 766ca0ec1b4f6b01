"""Compare every system with every other: shares of wins, and a sign test of each difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, lgamma, log
from typing import TYPE_CHECKING, Literal

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models.base import Floats, Ints
    from streams.core.ranking import PairCounts

STARS = ((0.01, "‡"), (0.05, "†"), (0.10, "⋆"))

Sides = Literal[1, 2]
Correction = Literal["none", "holm", "bh"]
CORRECTIONS: dict[Correction, str] = {"none": "nothing", "holm": "Holm", "bh": "Benjamini-Hochberg"}


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


def adjust(p: Sequence[float], correction: Correction) -> list[float]:
    """Return p-values that are corrected because many pairs are tested.

    `holm` bounds the probability of any wrong star, `bh` (Benjamini and Hochberg 1995) the expected share of wrong
    stars.

    >>> adjust([0.01, 0.04, 0.03], "holm"), adjust([0.01, 0.04, 0.03], "bh")
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    count = len(p)
    if correction == "none":
        return list(p)
    order = sorted(range(count), key=lambda k: p[k], reverse=correction == "bh")
    found, bound = [1.0] * count, 1.0 if correction == "bh" else 0.0
    for place, k in enumerate(order):
        if correction == "holm":
            bound = max(bound, min(1.0, (count - place) * p[k]))
        else:
            bound = min(bound, count * p[k] / (count - place))
        found[k] = bound
    return found


def format_p(p: float) -> str:
    """Return the text of a p-value.

    >>> format_p(0.05219), format_p(0.0)
    ('0.0522', '<0.0001')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


@dataclass(frozen=True, kw_only=True)
class HeadToHead:
    """[row, column] is how often the system of the row was preferred to the system of the column, ties ignored.

    Tables 21 to 30 of the WMT13 findings have the same numbers with rows and columns exchanged.
    """

    systems: tuple[str, ...]
    shares: Floats  # NaN for pairs without a win
    p: Floats
    sides: Sides = 1
    correction: Correction = "none"

    @classmethod
    def of(cls, counts: PairCounts, *, sides: Sides = 1, correction: Correction = "none") -> HeadToHead:
        """Test every pair. The sign test of the findings has one side: the data decide which system is the better one.

        Pairs without a win are not tested, so they do not count for the correction.

        >>> from streams.core.ranking import PairCounts
        >>> table = HeadToHead.of(PairCounts(systems=("a", "b"), wins=np.array([[0, 9], [1, 0]]),
        ...                                  ties=np.zeros((2, 2), int), judgments=np.array([10, 10])))
        >>> table.cell(0, 1), table.cell(1, 0), table.cell(0, 0)
        ('.90†', '.10†', '–')
        """
        size = len(counts.systems)
        p = np.ones((size, size))
        wins = counts.wins
        tested = [(i, j) for i, j in zip(*np.triu_indices(size, 1), strict=True) if wins[i, j] or wins[j, i]]
        found = [sign_test(int(wins[i, j]), int(wins[j, i]), sides=sides) for i, j in tested]
        for (i, j), value in zip(tested, adjust(found, correction), strict=True):
            p[i, j] = p[j, i] = value
        return cls(systems=counts.systems, shares=counts.head_to_head(), p=p, sides=sides, correction=correction)

    @property
    def about_test(self) -> str:
        """Return how the stars were computed, in a few words."""
        sides = "one-sided" if self.sides == 1 else "two-sided"
        pairs = int(np.isfinite(self.shares).sum()) // 2
        many = "not corrected" if self.correction == "none" else f"corrected by {CORRECTIONS[self.correction]}"
        return f"sign test, {sides}, {many} for {pairs:,} {'pair' if pairs == 1 else 'pairs'}"

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
        systems = tuple(self.systems[i] for i in order)
        return replace(self, systems=systems, shares=self.shares[grid], p=self.p[grid])
