"""Differences of scores: how uncertain each of them is, and which systems are surely better than which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil, inf, log2
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from streams.core.ranking.student import student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from streams.core.ranking.ranges import Floats, Ints

    Bools = NDArray[np.bool_]

CONFIDENCE = 0.95  # of a line
RANGE_CONFIDENCE = 0.8  # of the tests behind a range of ranks, if so many pairs differ at it:
RANGE_SHARE = 0.4  # of the square of the number of systems; chance gives at most a quarter of that
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
            variance=self.variance[np.ix_(chosen, chosen)],
            freedom=self.freedom,
            decided=None if self.decided is None else self.decided[chosen],
        )

    def quantile(self, confidence: float = CONFIDENCE) -> Floats:
        """Return the t quantile of each difference. It is infinite where nothing can be claimed.

        Its degrees of freedom are those of the groups, or the decided judgments of the system that has fewer of them,
        minus 1. So few judgments claim no more than a binomial test would, also among many ties.
        """
        if self.decided is None:
            return np.full(self.variance.shape, largest_quantile(self.freedom, confidence))
        table = _by_decided(self.freedom, confidence)
        fewer = np.minimum(self.decided[:, None], self.decided[None, :])
        found: Floats = table[np.minimum(fewer, len(table) - 1)]
        return found

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


def largest_quantile(freedom: int | None, confidence: float) -> float:
    """Return the quantile of groups alone, with any number of judgments."""
    if freedom is None:
        return NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    return student_quantile(freedom, confidence)


@cache
def _by_decided(freedom: int | None, confidence: float) -> Floats:
    """Return the quantile by the number of decided judgments. The last one is that of any larger number."""
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
    """Return the best and the worst rank of each system, as far as all these differences allow.

    Where most pairs differ, a rank can be wrong only between neighbours, and tests with less confidence than that of a
    line are enough. Among close systems most differences at that confidence are chance, and it is that of a line.

    >>> best, worst = likely_ranks(np.array([9.0, 7.0, 5.0, 3.0, 1.5, 0.0]), Differences.independent(np.full(6, 0.7)))
    >>> best.tolist(), worst.tolist()
    ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6])
    """
    better = _better_by_all(score, by, RANGE_CONFIDENCE)
    if np.count_nonzero(better) < RANGE_SHARE * len(score) ** 2:
        better = _better_by_all(score, by, CONFIDENCE)
    return surely_ranked(better)


def _better_by_all(score: Floats, by: tuple[Differences, ...], confidence: float) -> Bools:
    found: Bools = np.logical_and.reduce([each.surely_better(score, confidence) for each in by])
    return found
