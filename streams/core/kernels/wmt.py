"""The matches of the official WMT ranking: a random generator of its own, and the loop of one run."""

from __future__ import annotations

from math import exp
from typing import Any

from streams.compiler import jit
from streams.core.kernels.pairs import rate_pair

MASK = 0xFFFFFFFF


@jit
def uniform(state: Any) -> float:
    """Draw from [0, 1) and move the state on: four words of 32 bits, as 64-bit integers so that nothing overflows.

    Chris Doty-Humphrey's sfc32 (PractRand 0.94): adds, shifts and a counter, so that its period is at least 2^32.
    """
    a, b, c, counter = state[0], state[1], state[2], state[3]
    drawn = (a + b + counter) & MASK
    state[0] = b ^ (b >> 9)
    state[1] = (c + (c << 3)) & MASK
    state[2] = ((((c << 21) & MASK) | (c >> 11)) + drawn) & MASK
    state[3] = (counter + 1) & MASK
    return float(drawn) * 2.0**-32


@jit
def least_known(variance: Any, met: Any) -> int:
    """Find the system of largest variance among those that met another; the last one of equals."""
    found = -1
    largest = -1.0
    for i in range(len(variance)):
        if variance[i] >= largest and met[i]:
            found, largest = i, variance[i]
    return found


@jit
def play(
    mean: Any, variance: Any, wins: Any, meetings: Any, matches: int, beta: float, margin: float, state: Any, room: Any
) -> None:
    """Make one run's matches in place; meetings[i, j] counts the rows of a pair, wins[i, j] those that i won.

    The weight exp(-|mean_i - mean_j|) of an opponent is the lesser of exp(mean_i) / exp(mean_j) and its inverse, so
    that a match costs two exponentials, not one for each opponent. `room` is three rows of floats to work in.
    """
    up, down, heap = room[0], room[1], room[2]
    size = len(mean)
    met = meetings.sum(axis=1) > 0
    for i in range(size):
        up[i] = exp(mean[i])
        down[i] = 1.0 / up[i]
    for _ in range(matches):
        i = least_known(variance, met)
        up_i, down_i = up[i], down[i]
        total = 0.0
        for j in range(size):
            if meetings[i, j] > 0:
                total += min(up[j] * down_i, up_i * down[j])
            heap[j] = total
        mark = uniform(state) * total
        j = 0
        while heap[j] <= mark:
            j += 1
        row = uniform(state) * meetings[i, j]
        if row < wins[i, j]:
            order = -1
        elif row < wins[i, j] + wins[j, i]:
            order = 1
        else:
            order = 0
        rate_pair(mean, variance, i, j, order, beta, margin)
        up[i], up[j] = exp(mean[i]), exp(mean[j])
        down[i], down[j] = 1.0 / up[i], 1.0 / up[j]
