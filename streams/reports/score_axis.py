"""The axis of scores that whiskers are drawn on, in cells of a terminal or in shares of a width."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Self

from streams.core.ranking.ranges import Z_95

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Row


@dataclass(frozen=True)
class ScoreAxis:
    """The scores that a plot spans."""

    low: float
    high: float

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        """Span the 95 % intervals of all rows.

        >>> ScoreAxis.of([])
        ScoreAxis(low=-1.0, high=1.0)
        """
        low = min((row.score - Z_95 * row.deviation for row in rows), default=-1.0)
        high = max((row.score + Z_95 * row.deviation for row in rows), default=1.0)
        return cls(low=floor(low * 10) / 10, high=max(ceil(high * 10), floor(low * 10) + 1) / 10)

    def share(self, score: float) -> float:
        """Give where a score lies, from 0 at the low end to 1 at the high one.

        >>> ScoreAxis(-1.0, 1.0).share(0.5)
        0.75
        """
        return (score - self.low) / (self.high - self.low)


def score_decimals(rows: Sequence[Row]) -> int:
    """Give as many decimals as the deviations have."""
    return 3 if all(row.deviation < 0.01 for row in rows) else 2


def rank_range(low: int, high: int) -> str:
    """Write a range of ranks.

    >>> rank_range(2, 3), rank_range(7, 7)
    ('2-3', '7')
    """
    return str(low) if low == high else f"{low}-{high}"
