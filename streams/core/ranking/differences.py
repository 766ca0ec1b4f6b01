"""Differences of scores: how uncertain each of them is, and which systems are surely better than which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil, inf, log2
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.kernels import differences as at
from streams.core.ranking.student import student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from streams.core.ranking.ranges import Floats, Ints

    Bools = NDArray[np.bool_]

CONFIDENCE = 0.95  # of a line
RANGE_CONFIDENCE = 0.8  # of the tests behind a range of ranks, if the share RANGE_SHARE of the pairs differs at it
MANY = 200  # degrees of freedom that are as good as any number


@dataclass(frozen=True, kw_only=True)
class Differences:
    """The variance of the difference of each two scores, and how much evidence is behind it."""

    variance: Floats  # (systems, systems)
    freedom: int | None  # groups that are not empty, minus 1; None: the variance is known
    decided: Ints | None  # judgments of each system that prefer it or another one; None: any number

    @classmethod
    def independent(cls, deviation: Floats) -> Differences:
        """Return the differences of scores whose deviations are known and independent."""
        square = deviation * deviation
        return cls(variance=square[:, None] + square[None, :], freedom=None, decided=None)

    def select(self, chosen: Ints) -> Differences:
        """Return the differences of some systems, by index."""
        return Differences(
            variance=self.variance.take(chosen, axis=0).take(chosen, axis=1),
            freedom=self.freedom,
            decided=None if self.decided is None else self.decided[chosen],
        )

    def quantile(self, confidence: float = CONFIDENCE) -> Floats:
        """Return the t quantile of each difference. It is infinite where nothing can be claimed.

        Its degrees of freedom are those of the groups, or the decided judgments of the system that has fewer of them,
        minus 1. So few judgments claim no more than a binomial test would, also among many ties.
        """
        table = quantiles_by_decided(self.freedom, confidence, self.decided is None)
        fewer = np.minimum(self.evidence[:, None], self.evidence[None, :])
        found: Floats = table[np.minimum(fewer, len(table) - 1)]
        return found

    @property
    def evidence(self) -> Ints:
        """The decided judgments of each system, or 0 if any number is enough."""
        return np.zeros(len(self.variance), np.int64) if self.decided is None else self.decided

    def limit(self, confidence: float = CONFIDENCE) -> Floats:
        """Return the difference of each two systems above which it is significant."""
        quantile = self.quantile(confidence)
        found: Floats = np.full(quantile.shape, np.inf)
        np.multiply(quantile, np.sqrt(self.variance), out=found, where=np.isfinite(quantile))
        return found

    def surely_better(self, score: Floats, confidence: float = CONFIDENCE) -> Bools:
        """Return at [i, j] whether i is better than j at this confidence."""
        found: Bools = score[:, None] - score[None, :] > self.limit(confidence)
        return found


@cache
def quantiles_by_decided(freedom: int | None, confidence: float, any_number: bool = False) -> Floats:
    """Return the quantile by the number of decided judgments. The last one is that of any larger number.

    With `any_number` it is the only one.
    """
    if any_number:
        normal = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
        return np.array([normal if freedom is None else student_quantile(freedom, confidence)])
    fewest = fewest_decided(confidence)
    found = [inf] * fewest
    for number in range(fewest, fewest + (MANY if freedom is None else max(freedom, 0)) + 1):
        found.append(student_quantile(number - 1 if freedom is None else min(freedom, number - 1), confidence))
    return np.array(found)


def fewest_decided(confidence: float = CONFIDENCE) -> int:
    """Return the number of wins without a loss that a binomial test needs to prefer one of two systems.

    A confidence below 95 % needs as many as 95 %.

    >>> fewest_decided(0.95), fewest_decided(0.8)
    (6, 6)
    """
    return ceil(log2(2.0 / (1.0 - max(confidence, CONFIDENCE))))


def surely_ranked(better: Bools) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each system. Systems of which neither is surely better share ranks.

    >>> best, worst = surely_ranked(np.array([[False, True], [False, False]]))
    >>> best.tolist(), worst.tolist()
    ([1, 2], [1, 2])
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def likely_ranks(score: Floats, *by: Differences) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each system, as far as these one or two kinds of differences allow.

    Where most pairs differ, a rank can be wrong only between neighbours, and tests with less confidence than that of a
    line are enough. Among close systems most differences at that confidence are chance, and it is that of a line.

    >>> best, worst = likely_ranks(np.array([9.0, 7.0, 5.0, 3.0, 1.5, 0.0]), Differences.independent(np.full(6, 0.7)))
    >>> best.tolist(), worst.tolist()
    ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6])
    """
    ranks = rank_systems(np.arange(len(score)), score, *by)
    return ranks[at.BEST], ranks[at.WORST]


def rank_systems(order: Ints, score: Floats, *by: Differences) -> Ints:
    """Return the ranks and clusters of some systems, by index in order of score. kernels/differences.py has the rows.

    The clusters are those at the confidence of a line.
    """
    own, other = by[0], by[-1]
    ranks: Ints = np.empty((at.ROWS, len(order)), np.int64)
    kernels.suited("differences", len(order) ** 2).rank_systems(
        order,
        score,
        own.evidence,
        own.variance,
        _rank_quantiles(own.freedom, own.decided is None),
        other.variance,
        _rank_quantiles(other.freedom, other.decided is None),
        len(by) > 1,
        ranks,
    )
    return ranks


@cache
def _rank_quantiles(freedom: int | None, any_number: bool) -> Floats:
    """Return the quantiles of a line and of a range of ranks. They have the same fewest number of judgments."""
    return np.array([quantiles_by_decided(freedom, level, any_number) for level in (CONFIDENCE, RANGE_CONFIDENCE)])
