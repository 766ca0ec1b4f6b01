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
def least_known(variance: Any, met: Any) -> int:
    """Return the system with the largest variance among those with a match. The last one wins a tie."""
    found = -1
    largest = -1.0
    for i in range(len(variance)):
        if variance[i] >= largest and met[i]:
            found, largest = i, variance[i]
    return found


@jit
def play_matches(
    mean: Any, variance: Any, wins: Any, meetings: Any, matches: int, beta: float, margin: float, state: Any, room: Any
) -> None:
    """Play the matches of one run, in place. meetings[i, j] is the number of rows of a pair, wins[i, j] those i won.

    The weight exp(-|mean_i - mean_j|) of an opponent is the smaller of exp(mean_i) / exp(mean_j) and its inverse.
    So a match needs two exponentials, instead of one per opponent. `room` is scratch memory: three rows of floats.
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
        drawn = draw_uniform(state) * total
        j = 0
        while heap[j] <= drawn:
            j += 1
        row = draw_uniform(state) * meetings[i, j]
        if row < wins[i, j]:
            order = -1
        elif row < wins[i, j] + wins[j, i]:
            order = 1
        else:
            order = 0
        rate_pair(mean, variance, i, j, order, beta, margin)
        up[i], up[j] = exp(mean[i]), exp(mean[j])
        down[i], down[j] = 1.0 / up[i], 1.0 / up[j]
