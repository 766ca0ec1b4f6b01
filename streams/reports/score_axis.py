"""The axis of scores, on which a terminal and an HTML table draw them, and the text of scores and ranks."""

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
    """The range of scores of a plot."""

    low: float
    high: float

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        """Return an axis that contains the 95 % intervals of all rows.

        >>> ScoreAxis.of([])
        ScoreAxis(low=-1.0, high=1.0)
        """
        low = min((row.score - Z_95 * row.deviation for row in rows), default=-1.0)
        high = max((row.score + Z_95 * row.deviation for row in rows), default=1.0)
        return cls(low=floor(low * 10) / 10, high=max(ceil(high * 10), floor(low * 10) + 1) / 10)

    def share(self, score: float) -> float:
        """Return the position of a score on the axis: 0 is the low end, 1 the high end.

        >>> ScoreAxis(-1.0, 1.0).share(0.5)
        0.75
        """
        return (score - self.low) / (self.high - self.low)


def score_decimals(rows: Sequence[Row]) -> int:
    """Return the number of decimals to print. Small deviations need three."""
    return 3 if all(row.deviation < 0.01 for row in rows) else 2


def rank_range(low: int, high: int) -> str:
    """Return the text of a range of ranks.

    >>> rank_range(2, 3), rank_range(7, 7)
    ('2-3', '7')
    """
    return str(low) if low == high else f"{low}-{high}"
