"""Leaderboard rows in order of score, with rank ranges and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec.structs import replace

from streams.core.ranking.ranges import clusters, rank_ranges, sampled_ranges
from streams.wire.events import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.ranking.ranges import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class RankedScores:
    """The score and deviation of each system, and the best and the worst rank that it may have.

    >>> import numpy as np
    >>> ranked = RankedScores.sampled(np.array([[1.0, 2.0, 1.5], [1.0, 2.0, 1.5], [1.1, 2.0, 1.0]]))
    >>> [(row.system, row.rank_low, row.rank_high, row.cluster) for row in ranked.rows(["a", "b", "c"], [1, 1, 1])]
    [('b', 1, 1, 1), ('c', 2, 2, 2), ('a', 3, 3, 3)]
    """

    score: Floats
    deviation: Floats
    best: Ints
    worst: Ints
    judge_best: Ints | None = None  # for other judges; None: not known
    judge_worst: Ints | None = None

    @classmethod
    def closed(cls, mean: Floats, deviation: Floats) -> RankedScores:
        """Compute the ranges in closed form, without sampling, as live leaderboards do (see `rank_ranges`)."""
        best, worst = rank_ranges(mean, deviation)
        return cls(score=mean, deviation=deviation, best=best, worst=worst)

    @classmethod
    def sampled(cls, samples: Floats, *, score: Floats | None = None) -> RankedScores:
        """Take the ranges from sampled runs, one row per run. The default score is their mean."""
        best, worst = sampled_ranges(samples)
        mean = samples.mean(axis=0) if score is None else score
        return cls(score=mean, deviation=samples.std(axis=0), best=best, worst=worst)

    def rows(self, names: Sequence[str], judgments: Sequence[int]) -> tuple[Row, ...]:
        """Return the rows in order of score, then of name, each with its rank, rank ranges and cluster."""
        order = sorted(range(len(names)), key=lambda i: (-self.score[i], names[i]))
        best, worst = self.best[order], self.worst[order]
        numbers = clusters(best, worst)
        lines: list[Literal["judgments", "judges"] | None] = [*_lines(numbers)]
        low: list[int] | list[None] = [None] * len(order)
        high = low
        if self.judge_best is not None and self.judge_worst is not None:
            others = clusters(self.judge_best[order], self.judge_worst[order])
            lines = ["judges" if line and solid else line for line, solid in zip(lines, _lines(others), strict=True)]
            low, high = self.judge_best[order].tolist(), self.judge_worst[order].tolist()
        return tuple(
            Row(
                system=names[i],
                rank=place,
                rank_low=int(first),
                rank_high=int(last),
                cluster=int(cluster),
                score=float(self.score[i]),
                deviation=float(self.deviation[i]),
                judgments=judgments[i],
                judge_rank_low=low[place - 1],
                judge_rank_high=high[place - 1],
                line_above=lines[place - 1],
            )
            for place, (i, first, last, cluster) in enumerate(zip(order, best, worst, numbers, strict=True), start=1)
        )


def rows(names: Sequence[str], mean: Floats, deviation: Floats, judgments: Sequence[int]) -> tuple[Row, ...]:
    """Return the rows of a live leaderboard, with rank ranges in closed form.

    >>> import numpy as np
    >>> [row.system for row in rows(["a", "b"], np.array([0.0, 1.0]), np.array([1.0, 1.0]), [3, 3])]
    ['b', 'a']
    """
    return RankedScores.closed(mean, deviation).rows(names, judgments)


def widen_ranges(board: tuple[Row, ...], best: Ints, worst: Ints) -> tuple[Row, ...]:
    """Extend the rank range of each row to include these ranks, and compute the clusters again.

    >>> import numpy as np
    >>> board = rows(["a", "b"], np.array([5.0, 0.0]), np.array([0.1, 0.1]), [3, 3])
    >>> [(row.rank_low, row.rank_high, row.cluster) for row in widen_ranges(board, np.array([1, 1]), np.array([2, 2]))]
    [(1, 2, 1), (1, 2, 1)]
    """
    best = np.minimum(best, [row.rank_low for row in board])
    worst = np.maximum(worst, [row.rank_high for row in board])
    numbers = clusters(best, worst)
    return tuple(
        replace(row, rank_low=int(low), rank_high=int(high), cluster=int(cluster), line_above=line)
        for row, low, high, cluster, line in zip(board, best, worst, numbers, _lines(numbers), strict=True)
    )


def add_judge_ranges(board: tuple[Row, ...], best: Ints, worst: Ints) -> tuple[Row, ...]:
    """Add the rank range of each row for other judges, which includes the one for the same judges.

    A line that holds for them too becomes one of `judges`.

    >>> import numpy as np
    >>> board = rows(["a", "b"], np.array([5.0, 0.0]), np.array([0.1, 0.1]), [3, 3])
    >>> [row.line_above for row in add_judge_ranges(board, np.array([1, 2]), np.array([1, 2]))]
    [None, 'judges']
    """
    best = np.minimum(best, [row.rank_low for row in board])
    worst = np.maximum(worst, [row.rank_high for row in board])
    return tuple(
        replace(
            row,
            judge_rank_low=int(low),
            judge_rank_high=int(high),
            line_above="judges" if row.line_above and line else row.line_above,
        )
        for row, low, high, line in zip(board, best, worst, _lines(clusters(best, worst)), strict=True)
    )


def _lines(numbers: Ints) -> list[Literal["judgments"] | None]:
    """Return the line above each row: one where a cluster begins, except above the first."""
    return ["judgments" if begins else None for begins in np.diff(numbers, prepend=numbers[:1]) > 0]
