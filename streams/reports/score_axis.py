"""The axis of scores, on which a terminal and an HTML table draw them, and the text of scores and ranks."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Self

from streams.core.ranking.elo import CENTRE
from streams.core.ranking.ranges import Z_95

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Leaderboard, Row

UNKNOWN = "?"


@dataclass(frozen=True)
class ScoreAxis:
    """The range of scores of a plot, with the score that has a mark of its own."""

    low: float
    high: float
    origin: float = 0.0

    @classmethod
    def of(cls, board: Leaderboard) -> Self:
        """Return an axis that contains the 95 % intervals of all rows. Its ends are round numbers.

        >>> from streams.core.campaign.campaign import Campaign
        >>> ScoreAxis.of(Campaign("c").leaderboard())
        ScoreAxis(low=-1.0, high=1.0, origin=0.0)
        """
        per_step, origin = (0.1, CENTRE) if board.scale == "elo" else (10, 0.0)  # steps per unit
        low = min((row.score - Z_95 * row.deviation for row in board.rows), default=origin - 10 / per_step)
        high = max((row.score + Z_95 * row.deviation for row in board.rows), default=origin + 10 / per_step)
        first, last = floor(low * per_step), ceil(high * per_step)
        return cls(low=first / per_step, high=max(last, first + 1) / per_step, origin=origin)

    def share(self, score: float) -> float:
        """Return the position of a score on the axis: 0 is the low end, 1 the high end.

        >>> ScoreAxis(-1.0, 1.0).share(0.5)
        0.75
        """
        return (score - self.low) / (self.high - self.low)

    def label(self, score: float) -> str:
        """Return the text of a score on the axis.

        >>> ScoreAxis(-1.0, 1.0).label(0.5), ScoreAxis(-1.0, 1.0).label(0.0), ScoreAxis(900, 1200, 1000).label(1000)
        ('+0.5', '0', '1000')
        """
        return f"{score:g}" if score == self.origin or self.origin else f"{score:+g}"


@dataclass(frozen=True)
class ScoreText:
    """How the scores of a board are written: with a sign and decimals, or as whole numbers of Elo points."""

    heading: str
    sign: str
    decimals: int

    @classmethod
    def of(cls, board: Leaderboard) -> Self:
        """Return the format of a board's scores. Small deviations need three decimals."""
        if board.scale == "elo":
            return cls("elo", "", 0)
        return cls("score", "+", 3 if all(row.deviation < 0.01 for row in board.rows) else 2)

    def score(self, row: Row) -> str:
        """Return the score of a row."""
        return f"{row.score:{self.sign}.{self.decimals}f}"

    def deviation(self, row: Row) -> str:
        """Return the deviation of a row, which has no sign."""
        return f"{row.deviation:.{self.decimals}f}"


def rank_range(low: int, high: int) -> str:
    """Return the text of a range of ranks.

    >>> rank_range(2, 3), rank_range(7, 7)
    ('2-3', '7')
    """
    return str(low) if low == high else f"{low}-{high}"


def judge_range(row: Row) -> str:
    """Return the text of the range of ranks for other judges."""
    if row.judge_rank_low is None or row.judge_rank_high is None:
        return UNKNOWN
    return rank_range(row.judge_rank_low, row.judge_rank_high)


def has_judge_ranges(rows: Sequence[Row]) -> bool:
    """Return whether the ranges for other judges are known."""
    return any(row.judge_rank_low is not None for row in rows)
