"""Pairwise outcomes from judges who may answer at random: TrueSkill's closed form under a mixture likelihood."""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

from streams.compiler import jit
from streams.core.kernels.normal import HALF_SQRT, tie_moments, win_moments

BY_CHANCE = 1.0 / 3.0  # a win, a tie and a loss are all one to who does not look


@jit
def learn_judge(a: float, b: float, looked: float, guessed: float) -> tuple[float, float]:
    """Give the Beta with the mean and variance of looked Beta(a + 1, b) + guessed Beta(a, b + 1).

    Every term is positive, so that nothing cancels however sure the judge's reliability is.
    """
    size = a + b
    within = a * b + a * guessed + b * looked
    growth = within / (within + (size + 2.0) * looked * guessed)
    return (a + looked) * growth, (b + guessed) * growth


@jit
def judged_pair(
    m_i: float, s_i: float, m_j: float, s_j: float, a: float, b: float, order: int, beta: float, margin: float
) -> tuple[float, float, float, float, float, float]:
    """Give mean and variance of i, then of j, then the judge's a and b; order < 0 if i is better, > 0 if j is."""
    unit = 1.0 / sqrt(2.0 * beta * beta + (s_i + s_j))
    t, e = (m_i - m_j) * unit, margin * unit
    sign = 1.0
    if order > 0 or (order == 0 and t < 0.0):
        t, sign = -t, -1.0
    if order != 0:
        v, w = win_moments(t - e)
        mass = 0.5 * erfc((e - t) * HALF_SQRT)
    else:
        v, w = tie_moments(t, e)
        mass = 0.5 * (erfc((t - e) * HALF_SQRT) - erfc((t + e) * HALF_SQRT))
    by_look, by_chance = a * mass, b * BY_CHANCE
    looked, guessed = by_look / (by_look + by_chance), by_chance / (by_look + by_chance)
    a, b = learn_judge(a, b, looked, guessed)
    # The exact second moment may widen after a surprise; held at 0, no sequence of outcomes can make a variance grow.
    w = max(looked * (w - guessed * v * v), 0.0) * unit * unit
    v = sign * looked * v * unit
    return m_i + s_i * v, s_i * (1.0 - s_i * w), m_j - s_j * v, s_j * (1.0 - s_j * w), a, b


@jit
def rate_judged_rankings(
    mean: Any,
    variance: Any,
    a: Any,
    b: Any,
    systems: Any,
    ranks: Any,
    starts: Any,
    judges: Any,
    beta: float,
    margin: float,
) -> None:
    """Apply rankings in order; one of n systems counts as its n (n - 1) / 2 pairs, all by its judge."""
    for k in range(len(starts) - 1):
        judge = judges[k]
        for x in range(starts[k], starts[k + 1]):
            for y in range(x + 1, starts[k + 1]):
                i, j, order = systems[x], systems[y], ranks[x] - ranks[y]
                mean[i], variance[i], mean[j], variance[j], a[judge], b[judge] = judged_pair(
                    float(mean[i]),
                    float(variance[i]),
                    float(mean[j]),
                    float(variance[j]),
                    float(a[judge]),
                    float(b[judge]),
                    order,
                    beta,
                    margin,
                )
