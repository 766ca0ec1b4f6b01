"""Pairwise outcomes of judges who may guess: the closed form of TrueSkill with a mixture likelihood."""

from __future__ import annotations

from math import sqrt
from typing import Any

from streams.compiler import jit
from streams.core.kernels.normal import tie_moments, upper_tail, win_moments
from streams.core.kernels.pairs import BY_CHANCE, learn_margins, margin_row


@jit
def learn_judge(a: float, b: float, looked: float, guessed: float) -> tuple[float, float]:
    """Return the Beta with the mean and variance of looked Beta(a + 1, b) + guessed Beta(a, b + 1).

    Every term is positive, so that nothing cancels however sure the judge's reliability is.
    """
    size = a + b
    within = a * b + a * guessed + b * looked
    growth = within / (within + (size + 2.0) * looked * guessed)
    return (a + looked) * growth, (b + guessed) * growth


@jit
def judged_pair_update(
    m_i: float, s_i: float, m_j: float, s_j: float, a: float, b: float, order: int, beta: float, margin: float
) -> tuple[float, float, float, float, float, float]:
    """Return mean and variance of i, then of j, then a and b of the judge. order < 0: i is better, > 0: j is better."""
    unit = 1.0 / sqrt(2.0 * beta * beta + (s_i + s_j))
    t, e = (m_i - m_j) * unit, margin * unit
    sign = 1.0
    if order > 0 or (order == 0 and t < 0.0):
        t, sign = -t, -1.0
    if order != 0:
        v, w = win_moments(t - e)
        mass = upper_tail(e - t)
    else:
        v, w = tie_moments(t, e)
        mass = upper_tail(t - e) - upper_tail(t + e)
    by_look, by_chance = a * mass, b * BY_CHANCE
    looked, guessed = by_look / (by_look + by_chance), by_chance / (by_look + by_chance)
    a, b = learn_judge(a, b, looked, guessed)
    # The exact variance may grow after a surprising outcome. With a lower bound of 0 it never grows.
    w = max(looked * (w - guessed * v * v), 0.0) * unit * unit
    v = sign * looked * v * unit
    return m_i + s_i * v, s_i * (1.0 - s_i * w), m_j - s_j * v, s_j * (1.0 - s_j * w), a, b


@jit
def rate_judged_rankings(
    mean: Any,
    variance: Any,
    margins: Any,
    a: Any,
    b: Any,
    systems: Any,
    ranks: Any,
    starts: Any,
    judges: Any,
    beta: float,
) -> None:
    """Apply rankings in order. A ranking of n systems counts as n (n - 1) / 2 pairs of its judge.

    `margins` is as in `pairs.margin_row`.
    """
    for k in range(len(starts) - 1):
        judge = judges[k]
        row = margin_row(margins, judge, beta)
        for x in range(starts[k], starts[k + 1]):
            for y in range(x + 1, starts[k + 1]):
                i, j, order = systems[x], systems[y], ranks[x] - ranks[y]
                m_i, s_i, m_j, s_j = float(mean[i]), float(variance[i]), float(mean[j]), float(variance[j])
                careful, random, margin = float(a[judge]), float(b[judge]), float(margins[row, 0])
                learn_margins(margins, row, m_i, s_i, m_j, s_j, order, beta, careful / (careful + random))
                mean[i], variance[i], mean[j], variance[j], a[judge], b[judge] = judged_pair_update(
                    m_i, s_i, m_j, s_j, careful, random, order, beta, margin
                )
