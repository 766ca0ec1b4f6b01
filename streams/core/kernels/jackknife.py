"""Delete-a-group jackknife: slopes, curvatures and moves of groups of judgments at the fit of a settled board."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.linear import solve_positive

SIGNATURES = {
    "group_slopes": "q3 d3 q1 q1 d2",
    "delete_each": "q3 d3 q1 q1 d2 d2 d2 -> q",
    "group_products": "q3 d3 q1 q1 d2 d2",
}


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
def has_outcomes(counts: Any, group: int) -> bool:
    """Return whether a group has an outcome of any pair."""
    for p in range(counts.shape[0]):
        if counts[p, group, 0] != 0 or counts[p, group, 1] != 0 or counts[p, group, 2] != 0:
            return True
    return False


@jit
def leave_out(counts: Any, group: int, moments: Any, first: Any, second: Any, rest: Any, slope: Any) -> None:
    """Subtract the curvature of a group's log-likelihood, in the upper triangle, and add its slope."""
    last = len(slope) - 1
    for p in range(len(first)):
        won, tied, lost = float(counts[p, group, 0]), float(counts[p, group, 1]), float(counts[p, group, 2])
        if won + tied + lost == 0.0:
            continue
        a, b, own = first[p], second[p], moments[p]
        curve = won * own[0, 2] + tied * own[1, 2] + lost * own[2, 2]
        both = won * own[0, 3] + tied * own[1, 3] + lost * own[2, 3]
        rest[a, a] -= curve
        rest[b, b] -= curve
        rest[a, b] += curve
        rest[a, last] -= both
        rest[b, last] += both
        rest[last, last] -= won * own[0, 4] + tied * own[1, 4] + lost * own[2, 4]
        steepness = won * own[0, 0] + tied * own[1, 0] + lost * own[2, 0]
        slope[a] += steepness
        slope[b] -= steepness
        slope[last] += won * own[0, 1] + tied * own[1, 1] + lost * own[2, 1]


@jit
def delete_each(counts: Any, moments: Any, first: Any, second: Any, hessian: Any, rest: Any, moves: Any) -> int:
    """Set a row of moves to (H - H_g)^-1 s_g for each group that is not empty. Return the number of these groups.

    `rest` is room for a curvature. Of each pair the first system must be the lower one.
    """
    size, filled = len(hessian), 0
    for g in range(counts.shape[1]):
        if not has_outcomes(counts, g):
            continue
        move = moves[filled]
        for i in range(size):
            move[i] = 0.0
            for j in range(i, size):
                rest[i, j] = hessian[i, j]
        leave_out(counts, g, moments, first, second, rest, move)
        solve_positive(rest, move)
        filled += 1
    return filled


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
