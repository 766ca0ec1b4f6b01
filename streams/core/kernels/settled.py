"""The settled board: slopes and curvatures of the outcomes of each pair, its islands, and the variances of differences.

On the scale of the noise, sqrt(2) beta = 1, a pair with difference t has P(win) = Phi(t - e), P(loss) = Phi(-t - e),
and a tie otherwise. The logarithm of each is concave in t and e together.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from streams.compiler import jit
from streams.core.kernels.elementary import exp, expm1
from streams.core.kernels.normal import CENTRE, NARROW, NORM, central, mills, tie_moments, upper_tail, win_moments

SIGNATURES = {
    "upper_tails": "d1 d1",
    "join_islands": "q1 q1 q1 -> ?",
    "widest_variances": "d2 d2 d2",
    "group_totals": "q3 q2",
    "add_decided": "q1 q1 d2 d2",
    "find_majorities": "q1 q1 d2 d d2 -> q",
    "cell_moments": "d1 d d3",
}


@jit
def upper_tails(values: Any, tails: Any) -> None:
    """Set tails to 1 - Phi of each value."""
    for k in range(len(values)):
        tails[k] = upper_tail(float(values[k]))


@jit
def tie_density(t: float, e: float) -> float:
    """Return N(t - e) / P(tie), for t >= 0."""
    if e < NARROW:
        y = t * e
        if y < 1e-6:
            return (1.0 + y) * (1.0 - e * e / 3.0) / (2.0 * e)
        return t * (1.0 - e * e / 3.0) / -expm1(-2.0 * y)
    low, high = t - e, t + e
    if high < CENTRE:
        a, b = central(low * low)
        c, d = central(high * high)
        return NORM * exp(-0.5 * low * low) * (b * d) / (high * (c * b) - low * (a * d))
    a, b = mills(abs(low))
    c, d = mills(high)
    below, above, both = a * d, exp(-2.0 * t * e) * (c * b), b * d
    if low > 0.0:
        return both / (below - above)
    density = NORM * exp(-0.5 * low * low)
    return density * both / (both - density * (below + above))


@jit
def pair_moments(t: float, margin: float, moments: Any) -> None:
    """Fill moments[k] for a win, a tie and a loss at a difference of t.

    The five numbers are the slope of the log-likelihood in t and in e, then its curvature (the negative second
    derivative) in t, in t and e, and in e.
    """
    v, w = win_moments(t - margin)
    moments[0, 0], moments[0, 1], moments[0, 2], moments[0, 3], moments[0, 4] = v, -v, w, -w, w
    v, w = win_moments(-t - margin)
    moments[2, 0], moments[2, 1], moments[2, 2], moments[2, 3], moments[2, 4] = -v, -v, w, w, w
    sign = 1.0
    if t < 0.0:
        t, sign = -t, -1.0
    v, w = tie_moments(t, margin)
    density, ratio = tie_density(t, margin), exp(-2.0 * t * margin)
    low, high = t - margin, (t + margin) * ratio
    u = density * (1.0 + ratio)
    moments[1, 0], moments[1, 1], moments[1, 2] = sign * v, u, w
    moments[1, 3] = sign * (density * (low + high) + u * v)
    moments[1, 4] = u * u - density * (low - high)


@jit
def cell_moments(t: Any, margin: float, moments: Any) -> None:
    """Fill the moments at each of many differences."""
    for k in range(len(t)):
        pair_moments(float(t[k]), margin, moments[k])


@jit
def group_totals(counts: Any, totals: Any) -> None:
    """Add up the outcomes of each pair over the groups."""
    for p in range(len(totals)):
        for g in range(counts.shape[1]):
            for k in range(3):
                totals[p, k] += counts[p, g, k]


@jit
def add_decided(first: Any, second: Any, outcomes: Any, decided: Any) -> None:
    """Add up what each system won as the first and as the second one of its pairs, then what it lost so."""
    for p in range(len(first)):
        a, b, won, lost = first[p], second[p], outcomes[p, 0], outcomes[p, 2]
        decided[0, a] += won
        decided[1, b] += lost
        decided[2, a] += lost
        decided[3, b] += won


@jit
def find_majorities(first: Any, second: Any, outcomes: Any, quantile: float, majority: Any) -> int:
    """Set majority[i, j] to 1 where i beats j by a significant majority. Return the number of these.

    `quantile` times the square root of the wins and losses is how far above half of them a majority must be.
    """
    number = 0
    for p in range(len(first)):
        a, b, won, lost = first[p], second[p], float(outcomes[p, 0]), float(outcomes[p, 2])
        needed = quantile * sqrt(won + lost)
        if won - 0.5 * (won + lost) - 0.5 >= needed:
            majority[a, b] = 1.0
            number += 1
        if lost - 0.5 * (won + lost) - 0.5 >= needed:
            majority[b, a] = 1.0
            number += 1
    return number


@jit
def join_islands(first: Any, second: Any, part: Any) -> bool:
    """Set part[i] to the first system that i is connected with, or to their number if it never met any.

    Return whether all are connected.
    """
    size = len(part)
    for i in range(size):
        part[i] = size
    for p in range(len(first)):
        part[first[p]], part[second[p]] = first[p], second[p]
    for p in range(len(first)):
        a, b = first[p], second[p]
        while part[a] != a:
            a = part[a]
        while part[b] != b:
            b = part[b]
        part[max(a, b)] = min(a, b)
    for i in range(size):  # what i points to is its island already, because it is before i
        if part[i] < size:
            part[i] = part[part[i]]
    apart = 0
    for i in range(size):
        apart = max(apart, part[i])
    return apart == 0


@jit
def widest_variances(one: Any, other: Any, variance: Any) -> None:
    """Set the variance of the difference of each two systems to the larger one of two covariances."""
    for i in range(len(variance)):
        for j in range(len(variance)):
            own = float(one[i, i]) + float(one[j, j]) - 2.0 * float(one[i, j])
            others = float(other[i, i]) + float(other[j, j]) - 2.0 * float(other[i, j])
            variance[i, j] = max(own, others, 0.0)
