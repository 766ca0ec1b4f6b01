"""Differences of scores: which systems are surely better than which, the ranks that this leaves, and the next line.

The difference of two systems is significant above q sqrt(V). The quantile q is that of the system with fewer decided
judgments.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from streams.compiler import jit

SIGNATURES = {
    "rank_systems": "q1 d1 q1 d2 d2 d2 d2 ? q2",
    "line_growths": "q1 d1 q1 d2 d2 d d d2 d2",
}

LINE, RANGE = 0, 1  # rows of quantiles: those of a line, and those of a range of ranks
BEST, WORST, CLUSTER, SURE_BEST, SURE_WORST, ROWS = 0, 1, 2, 3, 4, 5  # rows of ranks, and their number
RANGE_SHARE = 0.4  # of the square of the number of systems; chance gives at most a quarter of that
NOW, LATER = 0, 1  # rows of quantiles: those of now, and those when there are enough judgments
NEEDED, MOST = 0, 1  # rows of lines: what a line needs, and room to compute in
LEAST = 1.0 + 1e-9  # growth that a missing line needs at least


@jit
def rank_surely(
    order: Any,
    score: Any,
    decided: Any,
    variance: Any,
    quantiles: Any,
    other_variance: Any,
    other_quantiles: Any,
    by_both: bool,
    best: Any,
    worst: Any,
) -> int:
    """Set the ranks that surely better and surely worse systems leave to each. Return how many pairs differ."""
    size, pairs = len(order), 0
    for k in range(size):
        best[k], worst[k] = 1, size
    for above in range(size):
        i = order[above]
        for below in range(size):
            j = order[below]
            gap = float(score[i]) - float(score[j])
            if not gap > 0.0:
                continue
            fewer = min(decided[i], decided[j])
            if not gap > float(quantiles[min(fewer, len(quantiles) - 1)]) * sqrt(float(variance[i, j])):
                continue
            if by_both:
                quantile = float(other_quantiles[min(fewer, len(other_quantiles) - 1)])
                if not gap > quantile * sqrt(float(other_variance[i, j])):
                    continue
            best[below] += 1
            worst[above] -= 1
            pairs += 1
    return pairs


@jit
def rank_systems(
    order: Any,
    score: Any,
    decided: Any,
    variance: Any,
    quantiles: Any,
    other_variance: Any,
    other_quantiles: Any,
    by_both: bool,
    ranks: Any,
) -> None:
    """Set the range of ranks of each system, its ranks at the confidence of a line, and the clusters by these.

    `order` are the systems by index. With `by_both`, a difference must be significant by both variances. Clusters are
    right if systems are in order of score.
    """
    size = len(order)
    best, worst, cluster, sure_best, sure_worst = (
        ranks[BEST],
        ranks[WORST],
        ranks[CLUSTER],
        ranks[SURE_BEST],
        ranks[SURE_WORST],
    )
    own, other = quantiles[LINE], other_quantiles[LINE]
    rank_surely(order, score, decided, variance, own, other_variance, other, by_both, sure_best, sure_worst)
    own, other = quantiles[RANGE], other_quantiles[RANGE]
    pairs = rank_surely(order, score, decided, variance, own, other_variance, other, by_both, best, worst)
    if pairs < RANGE_SHARE * size**2:
        for k in range(size):
            best[k], worst[k] = sure_best[k], sure_worst[k]
    # A cluster ends after a system if the worst rank so far is better than the best rank of every later system.
    least = size + 1
    for k in range(size - 1, -1, -1):
        least = min(least, sure_best[k])
        cluster[k] = least
    number, most = 1, 0
    for k in range(size):
        if k > 0 and most < cluster[k]:
            number += 1
        cluster[k] = number
        most = max(most, sure_worst[k])


@jit
def growth_of(gap: float, deviation: float, quantile: float, z: float) -> float:
    """Return the factor of judgments at which a difference is likely significant, or infinity.

    With r = d / sqrt(V) and u = 1 / sqrt(f), it solves r - q u = z sqrt(1 - u²).
    """
    r = quantile if gap > 0.0 else 0.0
    if deviation > 0.0:
        r = min(max(gap / deviation, 0.0), quantile)
    square = quantile * quantile + z * z
    u = (r * quantile - z * sqrt(square - r * r)) / square
    return 1.0 / (u * u) if u > 0.0 else inf


@jit
def line_growths(
    order: Any,
    score: Any,
    decided: Any,
    variance: Any,
    quantiles: Any,
    z: float,
    fewest: float,
    growth: Any,
    lines: Any,
) -> None:
    """Set the growth that each difference needs, and lines[NEEDED, k] to the most across the line below k + 1 systems.

    `order` are the systems by index, in order of score. `quantiles` has those of now and those of later, when there are
    `fewest` decided judgments at least. A difference that is significant has a growth of 1.
    """
    size, now, later, needed, most = len(order), quantiles[NOW], quantiles[LATER], lines[NEEDED], lines[MOST]
    for j in range(size):
        most[j] = 0.0
    for i in range(size):
        for j in range(i + 1, size):
            above, below = order[i], order[j]
            gap, deviation, fewer = (
                float(score[above]) - float(score[below]),
                sqrt(float(variance[above, below])),
                min(decided[above], decided[below]),
            )
            place = min(fewer, len(now) - 1)
            if gap > float(now[place]) * deviation:
                growth[i, j] = 1.0
            else:
                more = growth_of(gap, deviation, float(later[place]), z)
                if fewest > 0.0:
                    more = max(more, fewest / fewer if fewer > 0 else inf)
                growth[i, j] = max(more, LEAST)
            most[j] = max(float(most[j]), float(growth[i, j]))
        needed[i] = 0.0
        for j in range(i + 1, size):
            needed[i] = max(float(needed[i]), float(most[j]))
