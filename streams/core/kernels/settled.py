"""The settled board: slopes and curvatures of the outcomes of each pair, and products with the curvature of groups.

On the scale of the noise, sqrt(2) beta = 1, a pair with difference t has P(win) = Phi(t - e), P(loss) = Phi(-t - e),
and a tie otherwise. The logarithm of each is concave in t and e together.
"""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.elementary import exp, expm1
from streams.core.kernels.linear import solve_positive
from streams.core.kernels.normal import CENTRE, NARROW, NORM, central, mills, tie_moments, upper_tail, win_moments

SIGNATURES = {
    "upper_tails": "d1 d1",
    "group_totals": "q3 q2",
    "cell_moments": "d1 d d3",
    "group_slopes": "q3 d3 q1 q1 d2",
    "group_curvatures": "q3 d3 q1 q1 d3",
    "delete_each": "q3 d3 q1 q1 d2 d2 d3 d2",
    "group_products": "q3 d3 q1 q1 d2 d2",
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
def group_slopes(counts: Any, moments: Any, first: Any, second: Any, slopes: Any) -> None:
    """Add up the slope of each group's log-likelihood, one column per group. The last row is that of the margin."""
    groups, last = slopes.shape[1], slopes.shape[0] - 1
    for p in range(len(first)):
        a, b, own = first[p], second[p], moments[p]
        for g in range(groups):
            won, tied, lost = float(counts[p, g, 0]), float(counts[p, g, 1]), float(counts[p, g, 2])
            if won + tied + lost == 0.0:
                continue
            slope = won * own[0, 0] + tied * own[1, 0] + lost * own[2, 0]
            slopes[a, g] += slope
            slopes[b, g] -= slope
            slopes[last, g] += won * own[0, 1] + tied * own[1, 1] + lost * own[2, 1]


@jit
def group_curvatures(counts: Any, moments: Any, first: Any, second: Any, curvatures: Any) -> None:
    """Subtract the curvature of each group's log-likelihood from curvatures[g]."""
    groups, last = curvatures.shape[0], curvatures.shape[1] - 1
    for p in range(len(first)):
        a, b, own = first[p], second[p], moments[p]
        for g in range(groups):
            won, tied, lost = float(counts[p, g, 0]), float(counts[p, g, 1]), float(counts[p, g, 2])
            if won + tied + lost == 0.0:
                continue
            rest = curvatures[g]
            curve = won * own[0, 2] + tied * own[1, 2] + lost * own[2, 2]
            both = won * own[0, 3] + tied * own[1, 3] + lost * own[2, 3]
            rest[a, a] -= curve
            rest[b, b] -= curve
            rest[a, b] += curve
            rest[b, a] += curve
            rest[a, last] -= both
            rest[last, a] -= both
            rest[b, last] += both
            rest[last, b] += both
            rest[last, last] -= won * own[0, 4] + tied * own[1, 4] + lost * own[2, 4]


@jit
def delete_each(
    counts: Any, moments: Any, first: Any, second: Any, hessian: Any, slopes: Any, rest: Any, moves: Any
) -> None:
    """Set moves[g] to (H - H_g)^-1 s_g. `slopes` gets s_g, and `rest` is room for a curvature per group."""
    size = len(hessian)
    for g in range(len(moves)):
        for i in range(size):
            for j in range(size):
                rest[g, i, j] = hessian[i, j]
    group_curvatures(counts, moments, first, second, rest)
    group_slopes(counts, moments, first, second, slopes)
    for g in range(len(moves)):
        for i in range(size):
            moves[g, i] = slopes[i, g]
        solve_positive(rest[g], moves[g])


@jit
def group_products(counts: Any, moments: Any, first: Any, second: Any, vectors: Any, products: Any) -> None:
    """Set products[:, g] to the curvature of group g times vectors[:, g]. The last entry is that of the margin."""
    groups, last = vectors.shape[1], vectors.shape[0] - 1
    for i in range(last + 1):
        for g in range(groups):
            products[i, g] = 0.0
    for p in range(len(first)):
        a, b, own = first[p], second[p], moments[p]
        for g in range(groups):
            won, tied, lost = float(counts[p, g, 0]), float(counts[p, g, 1]), float(counts[p, g, 2])
            if won + tied + lost == 0.0:
                continue
            t, e = vectors[a, g] - vectors[b, g], vectors[last, g]
            both = won * own[0, 3] + tied * own[1, 3] + lost * own[2, 3]
            moved = (won * own[0, 2] + tied * own[1, 2] + lost * own[2, 2]) * t + both * e
            products[a, g] += moved
            products[b, g] -= moved
            products[last, g] += both * t + (won * own[0, 4] + tied * own[1, 4] + lost * own[2, 4]) * e
