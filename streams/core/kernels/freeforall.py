"""A ranking as one match: TrueSkill's expectation propagation on the chain of adjacent ranks."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from streams.compiler import jit
from streams.core.kernels.normal import tie_moments, win_moments
from streams.core.kernels.pairs import learn_margins, margin_row

TOLERANCE = 1e-10  # relative change of a message
MAX_SWEEPS = 100  # a chain converges in about ten; this limits the time, and the state is valid after any sweep

# Rows of the scratch array, a column for each place in the chain. Every system's performance is measured from its
# prior mean, so that no digit is lost to where the scale has its zero.
PRIOR, FROM_ABOVE, SHIFT_ABOVE, FROM_BELOW, SHIFT_BELOW = range(5)
ROWS = 5


@jit
def change_of(after: float, before: float, unit: float) -> float:
    """Return the change of a number, relative to its size plus a unit."""
    return abs(after - before) / (abs(after) + unit)


@jit
def rate_link(mean: Any, chain: Any, tied: bool, place: int, margin: float, scratch: Any) -> float:
    """Update the messages between two neighbours of the chain. Return the largest relative change.

    A message is a precision and the precision times the shift of the mean. With a = the upper system's performance
    N(m_a, s_a) and b = the lower's, both without this link's own message, c² = s_a + s_b and v, w of the truncation,
    the message to a is N(m_a + c v / w, c² (1 - w) / w + s_b), written so that no w of 0 or 1 divides by zero.
    """
    upper, lower = place, place + 1
    prior_a, prior_b = float(scratch[PRIOR, upper]), float(scratch[PRIOR, lower])
    s_a = 1.0 / (1.0 / prior_a + float(scratch[FROM_ABOVE, upper]))
    s_b = 1.0 / (1.0 / prior_b + float(scratch[FROM_BELOW, lower]))
    m_a = s_a * float(scratch[SHIFT_ABOVE, upper])
    m_b = s_b * float(scratch[SHIFT_BELOW, lower])
    c2 = s_a + s_b
    c = sqrt(c2)
    t = (float(mean[chain[upper]]) - float(mean[chain[lower]]) + (m_a - m_b)) / c
    if not tied:
        v, w = win_moments(t - margin / c)
    elif t >= 0.0:
        v, w = tie_moments(t, margin / c)
    else:
        v, w = tie_moments(-t, margin / c)
        v = -v
    to_a = c2 * (1.0 - w) + w * s_b
    to_b = c2 * (1.0 - w) + w * s_a
    below, shift_below = w / to_a, (w * m_a + c * v) / to_a
    above, shift_above = w / to_b, (w * m_b - c * v) / to_b
    change = max(
        change_of(below, float(scratch[FROM_BELOW, upper]), 1.0 / prior_a),
        change_of(above, float(scratch[FROM_ABOVE, lower]), 1.0 / prior_b),
        change_of(shift_below, float(scratch[SHIFT_BELOW, upper]), 1.0 / sqrt(prior_a)),
        change_of(shift_above, float(scratch[SHIFT_ABOVE, lower]), 1.0 / sqrt(prior_b)),
    )
    scratch[FROM_BELOW, upper], scratch[SHIFT_BELOW, upper] = below, shift_below
    scratch[FROM_ABOVE, lower], scratch[SHIFT_ABOVE, lower] = above, shift_above
    return change


@jit
def rate_match(
    mean: Any,
    variance: Any,
    systems: Any,
    ranks: Any,
    start: int,
    stop: int,
    beta: float,
    margin: float,
    chain: Any,
    order: Any,
    scratch: Any,
) -> int:
    """Update the systems of one ranking in place. Return the number of sweeps.

    The chain holds the systems by rank, those of one rank in the order listed.
    """
    size = stop - start
    for k in range(size):
        rank, hole = ranks[start + k], k
        while hole > 0 and order[hole - 1] > rank:
            order[hole], chain[hole] = order[hole - 1], chain[hole - 1]
            hole -= 1
        order[hole], chain[hole] = rank, systems[start + k]
    for k in range(size):
        scratch[PRIOR, k] = variance[chain[k]] + beta * beta
        for row in range(1, ROWS):
            scratch[row, k] = 0.0
    sweeps, change = 0, 1.0
    while change > TOLERANCE and sweeps < MAX_SWEEPS:
        change = 0.0
        # A sweep ends at the first link, so the next one starts at the second: two systems need one update.
        for k in range(min(sweeps, 1), size - 1):
            change = max(change, rate_link(mean, chain, order[k] == order[k + 1], k, margin, scratch))
        for k in range(size - 3, -1, -1):
            change = max(change, rate_link(mean, chain, order[k] == order[k + 1], k, margin, scratch))
        sweeps += 1
    for k in range(size):
        i = chain[k]
        precision = scratch[FROM_ABOVE, k] + scratch[FROM_BELOW, k]
        shift = scratch[SHIFT_ABOVE, k] + scratch[SHIFT_BELOW, k]
        scale = 1.0 / (1.0 + scratch[PRIOR, k] * precision)
        mean[i] += variance[i] * shift * scale
        variance[i] *= (1.0 + beta * beta * precision) * scale
    return sweeps


@jit
def learn_from_match(
    margins: Any, row: int, mean: Any, variance: Any, systems: Any, ranks: Any, start: int, stop: int, beta: float
) -> None:
    """Learn the margins from all pairs of one ranking, at the ratings before it."""
    for a in range(start, stop):
        for b in range(a + 1, stop):
            i, j = systems[a], systems[b]
            m_i, s_i, m_j, s_j = float(mean[i]), float(variance[i]), float(mean[j]), float(variance[j])
            learn_margins(margins, row, m_i, s_i, m_j, s_j, ranks[a] - ranks[b], beta, 1.0)


@jit
def rate_matches(
    mean: Any, variance: Any, margins: Any, systems: Any, ranks: Any, starts: Any, judges: Any, beta: float
) -> None:
    """Apply rankings in order, each as one match of all its systems. `margins` is as in `pairs.margin_row`."""
    longest = 0
    for k in range(len(starts) - 1):
        longest = max(longest, starts[k + 1] - starts[k])
    chain, order = np.empty(longest, np.int64), np.empty(longest, np.int64)
    scratch = np.empty((ROWS, longest))
    for k in range(len(starts) - 1):
        start, stop = starts[k], starts[k + 1]
        row = margin_row(margins, judges[k], beta)
        margin = float(margins[row, 0])
        learn_from_match(margins, row, mean, variance, systems, ranks, start, stop, beta)
        rate_match(mean, variance, systems, ranks, start, stop, beta, margin, chain, order, scratch)
