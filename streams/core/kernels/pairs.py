"""Pairwise outcomes: the closed form of TrueSkill for two systems, and the counts of wins and ties.

Values of arrays become `float`s at once: they have the same bits, and Python computes faster with them.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from streams.compiler import jit
from streams.core.kernels.normal import tie_moments, win_moments

SIGNATURES = {
    "rate_rankings": "d1 d1 q1 q1 q1 d d",
    "judge_rankings": "q2 q2 ?2 q1 q1 q1 q1 q1 q1",
}


@jit
def pair_update(
    m_i: float, s_i: float, m_j: float, s_j: float, order: int, beta: float, margin: float
) -> tuple[float, float, float, float]:
    """Return mean and variance of i, then of j, after a match. order < 0: i is better, > 0: j is better, 0: a tie."""
    unit = 1.0 / sqrt(2.0 * beta * beta + (s_i + s_j))  # 1 / c, so that there is only one division
    t, e = (m_i - m_j) * unit, margin * unit
    sign = 1.0
    if order > 0 or (order == 0 and t < 0.0):
        t, sign = -t, -1.0
    v, w = win_moments(t - e) if order != 0 else tie_moments(t, e)
    v, w = sign * v * unit, w * unit * unit
    return m_i + s_i * v, s_i * (1.0 - s_i * w), m_j - s_j * v, s_j * (1.0 - s_j * w)


@jit
def rate_pair(mean: Any, variance: Any, i: int, j: int, order: int, beta: float, margin: float) -> None:
    """Update systems i and j in place. `order` is as in `pair_update`."""
    mean[i], variance[i], mean[j], variance[j] = pair_update(
        float(mean[i]), float(variance[i]), float(mean[j]), float(variance[j]), order, beta, margin
    )


@jit
def rate_rankings(mean: Any, variance: Any, systems: Any, ranks: Any, starts: Any, beta: float, margin: float) -> None:
    """Apply rankings in order. A ranking of n systems counts as its n (n - 1) / 2 pairs."""
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                # Not with rate_pair: passing the arrays takes a fifth of the time of an update.
                i, j, order = systems[a], systems[b], ranks[a] - ranks[b]
                mean[i], variance[i], mean[j], variance[j] = pair_update(
                    float(mean[i]), float(variance[i]), float(mean[j]), float(variance[j]), order, beta, margin
                )


@jit
def count_ranking(wins: Any, ties: Any, touched: Any, systems: Any, ranks: Any, first: int, last: int) -> None:
    """Count the pairs of one ranking: wins[i, j] of i over j, and ties on both sides. Set touched[lower, upper]."""
    for a in range(first, last):
        for b in range(a + 1, last):
            i, j = systems[a], systems[b]
            touched[min(i, j), max(i, j)] = True
            if ranks[a] < ranks[b]:
                wins[i, j] += 1
            elif ranks[a] > ranks[b]:
                wins[j, i] += 1
            else:
                ties[i, j] += 1
                ties[j, i] += 1


@jit
def count_rankings(wins: Any, ties: Any, touched: Any, systems: Any, ranks: Any, starts: Any) -> None:
    """Count the pairs of rankings."""
    for k in range(len(starts) - 1):
        count_ranking(wins, ties, touched, systems, ranks, starts[k], starts[k + 1])


@jit
def judge_rankings(
    wins: Any,
    ties: Any,
    touched: Any,
    agreed: Any,
    compared: Any,
    judges: Any,
    systems: Any,
    ranks: Any,
    starts: Any,
) -> None:
    """Count rankings, and how often the preferences of each judge agree with the majority of earlier rankings."""
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                majority = wins[systems[a], systems[b]] - wins[systems[b], systems[a]]
                if majority != 0 and ranks[a] != ranks[b]:
                    compared[judges[k]] += 1
                    agreed[judges[k]] += int((majority > 0) == (ranks[a] < ranks[b]))
        count_ranking(wins, ties, touched, systems, ranks, starts[k], starts[k + 1])
