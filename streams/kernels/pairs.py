"""Pairwise outcomes: TrueSkill's closed form for two, and the counts of wins and ties."""

from __future__ import annotations

from math import sqrt
from typing import Any

from streams.kernels import jit
from streams.kernels.normal import tie_moments, win_moments


@jit
def rate_pair(mean: Any, variance: Any, i: int, j: int, order: int, beta: float, margin: float) -> None:
    """Update systems i and j in place; order is below 0 if i is better, above if j is, 0 if tied."""
    if order > 0:
        i, j = j, i
    s_i, s_j = variance[i], variance[j]
    c2 = 2.0 * beta * beta + s_i + s_j
    c = sqrt(c2)
    t = (mean[i] - mean[j]) / c
    if order != 0:
        v, w = win_moments(t - margin / c)
    elif t >= 0.0:
        v, w = tie_moments(t, margin / c)
    else:
        v, w = tie_moments(-t, margin / c)
        v = -v
    mean[i] += s_i / c * v
    mean[j] -= s_j / c * v
    variance[i] = s_i * (1.0 - s_i / c2 * w)
    variance[j] = s_j * (1.0 - s_j / c2 * w)


@jit
def rate_rankings(mean: Any, variance: Any, systems: Any, ranks: Any, starts: Any, beta: float, margin: float) -> None:
    """Apply rankings in order; one of n systems counts as its n (n - 1) / 2 pairs."""
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                rate_pair(mean, variance, systems[a], systems[b], ranks[a] - ranks[b], beta, margin)


@jit
def count_rankings(wins: Any, ties: Any, touched: Any, systems: Any, ranks: Any, starts: Any) -> None:
    """Count the outcomes of each pair: wins[i, j] of i over j, ties on both sides; mark it at [lower, upper]."""
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                i, j = systems[a], systems[b]
                touched[min(i, j), max(i, j)] = True
                if ranks[a] < ranks[b]:
                    wins[i, j] += 1
                elif ranks[a] > ranks[b]:
                    wins[j, i] += 1
                else:
                    ties[i, j] += 1
                    ties[j, i] += 1
