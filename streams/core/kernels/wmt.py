"""The matches of the official WMT ranking: its random generator, and the loop of one run."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.elementary import exp
from streams.core.kernels.pairs import rate_pair

MASK = 0xFFFFFFFF


@jit
def draw_uniform(state: Any) -> float:
    """Draw from [0, 1) and update the state: four words of 32 bits, in 64-bit integers, which can not overflow.

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
def least_known(variance: Any) -> int:
    """Return the system with the largest variance. The last one wins a tie."""
    found = 0
    largest = -1.0
    for i in range(len(variance)):
        is_larger = variance[i] >= largest
        largest = variance[i] if is_larger else largest
        found = i if is_larger else found
    return found


@jit
def play_matches(
    mean: Any, variance: Any, wins: Any, meetings: Any, matches: int, beta: float, margin: float, state: Any, room: Any
) -> None:
    """Play the matches of one run, in place. meetings[i, j] is the number of rows of a pair, wins[i, j] those i won.

    The weight exp(-|mean_i - mean_j|) of an opponent is the smaller of exp(mean_i) / exp(mean_j) and its inverse.
    So a match needs two exponentials, instead of one per opponent. `room` is scratch memory: rows of floats, four more
    than there are systems. Loops over the opponents have no branch, so that a processor takes several at once.
    """
    size = len(mean)
    up, down, heap, known, has_met = room[0], room[1], room[2], room[3], room[4:]
    for i in range(size):
        up[i] = exp(mean[i])
        down[i] = 1.0 / up[i]
        known[i] = -2.0  # a system without a match is never the least known one
        for j in range(size):
            has_met[i, j] = 1.0 if meetings[i, j] > 0 else 0.0
            if meetings[i, j] > 0:
                known[i] = variance[i]
    for _ in range(matches):
        i = least_known(known)
        up_i, down_i = up[i], down[i]
        for j in range(size):
            heap[j] = min(up[j] * down_i, up_i * down[j]) * has_met[i, j]
        total = 0.0
        for j in range(size):
            total += heap[j]
            heap[j] = total
        drawn = draw_uniform(state) * total
        j = 0
        for k in range(size):
            j += heap[k] <= drawn
        row = draw_uniform(state) * meetings[i, j]
        if row < wins[i, j]:
            order = -1
        elif row < wins[i, j] + wins[j, i]:
            order = 1
        else:
            order = 0
        rate_pair(mean, variance, i, j, order, beta, margin)
        known[i], known[j] = variance[i], variance[j]
        up[i], up[j] = exp(mean[i]), exp(mean[j])
        down[i], down[j] = 1.0 / up[i], 1.0 / up[j]
