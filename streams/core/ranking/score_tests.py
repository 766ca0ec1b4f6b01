"""The official ranking of direct assessment: Wilcoxon's rank-sum test for every two systems, and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.core.kernels.normal import upper_tail
from streams.core.models.score_cells import sum_by
from streams.core.ranking.leaderboard import RankedScores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.ranking.ranges import Floats, Ints

SIGNIFICANT = 0.05  # one-sided, as in the findings of WMT


@dataclass(frozen=True, kw_only=True)
class ScoreTests:
    """The scores of all systems by index, and how likely chance alone makes each one this much better than another.

    `p[i, j]` is that of system i over system j. A system wins against another if it is below `SIGNIFICANT`.
    """

    score: Floats  # mean over segments
    error: Floats  # standard error over segments
    p: Floats

    def rank(self, names: Sequence[str]) -> RankedScores:
        """Return the scores with the ranks of each system's cluster.

        A cluster ends after a system that wins as often as there are systems below it. This is how the files
        `clusters.csv` of WMT21 and WMT22 were made. The systems of a cluster share its ranks.
        """
        order = np.array(sorted(range(len(names)), key=lambda i: (-self.score[i], names[i])), np.int64)
        below = len(order) - 1 - np.arange(len(order))
        ends = (self.p < SIGNIFICANT).sum(axis=1)[order] == below
        ends[-1:] = True
        last = np.flatnonzero(ends)
        cluster = np.searchsorted(last, np.arange(len(order)))
        best, worst = np.empty_like(order), np.empty_like(order)
        best[order], worst[order] = np.append(0, last[:-1] + 1)[cluster] + 1, last[cluster] + 1
        return RankedScores(score=self.score, deviation=self.error, best=best, worst=worst)


def standardise(judges: Ints, scores: Floats) -> Floats:
    """Return z = (score - mean of the judge) / deviation of the judge, or 0 if the judge has no deviation.

    >>> standardise(np.array([0, 0, 1]), np.array([1.0, 3.0, 70.0])).round(3).tolist()
    [-0.707, 0.707, 0.0]
    """
    size = int(judges.max(initial=-1)) + 1
    number = np.bincount(judges, minlength=size)
    off = scores - (sum_by(judges, scores, size) / np.maximum(number, 1))[judges]
    deviation = np.sqrt(sum_by(judges, off * off, size) / np.maximum(number - 1, 1))[judges]
    return np.divide(off, deviation, out=np.zeros_like(off), where=deviation > 0.0)


def compare_scores(systems: Ints, segments: Ints, scores: Floats) -> ScoreTests:
    """Return the mean score of each system over its segments, and the tests between the scores of its segments.

    A segment that was scored several times has the mean of these scores.
    """
    size = int(systems.max(initial=-1)) + 1
    width = int(segments.max(initial=-1)) + 1
    outputs, output = np.unique(systems * width + segments, return_inverse=True)
    means = sum_by(output, scores, len(outputs)) / np.bincount(output, minlength=len(outputs))
    samples = [np.sort(means[outputs // max(width, 1) == system]) for system in range(size)]
    p = np.ones((size, size))
    for i in range(size):
        for j in range(size):
            if i != j:
                p[i, j] = rank_sum_p(samples[i], samples[j])
    return ScoreTests(
        score=np.array([sample.mean() for sample in samples]),
        error=np.array([_standard_error(sample) for sample in samples]),
        p=p,
    )


def rank_sum_p(better: Floats, worse: Floats) -> float:
    """Return the one-sided p of Wilcoxon's rank-sum test (Mann and Whitney 1947) that one sample is the better one.

    U counts the pairs in which it is better, and half of the ties. Its normal approximation has the variance with ties
    and a correction for continuity, as in R. It is 1 if one sample is empty, or if all values are equal.

    >>> round(rank_sum_p(np.array([3.0, 4.0, 5.0]), np.array([1.0, 2.0, 2.5])), 4)
    0.0404
    """
    m, n = len(better), len(worse)
    if not m or not n:
        return 1.0
    values, counts = np.unique(np.concatenate([better, worse]), return_counts=True)
    last = np.cumsum(counts)
    ranks = last - (counts - 1) / 2.0
    u = float(ranks[np.searchsorted(values, better)].sum()) - m * (m + 1) / 2.0
    ties = float((counts.astype(np.float64) ** 3 - counts).sum())
    total = m + n
    variance = m * n / 12.0 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0.0:
        return 1.0
    return float(upper_tail((u - m * n / 2.0 - 0.5) / sqrt(variance)))


def _standard_error(sample: Floats) -> float:
    return float(sample.std(ddof=1) / sqrt(len(sample))) if len(sample) > 1 else 0.0
