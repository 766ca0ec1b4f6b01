"""The matches of the official WMT ranking: its random generator, and the loop of several runs."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.elementary import exp
from streams.core.kernels.pairs import pair_update

SIGNATURES = {"play_matches": "d2 d2 q3 q3 q d d q2 d2 q3"}

MASK = 0xFFFFFFFF
TRIES = 8  # to draw an opponent, before the weights of all are added up


@jit
def draw_word(state: Any) -> int:
    """Draw from 0 to 2^32 - 1 and update the state: four words of 32 bits, in 64-bit integers, which can not overflow.

    Chris Doty-Humphrey's sfc32 (PractRand 0.94): adds, shifts and a counter, so that its period is at least 2^32.
    """
    a, b, c, counter = state[0], state[1], state[2], state[3]
    drawn: int = (a + b + counter) & MASK
    state[0] = b ^ (b >> 9)
    state[1] = (c + (c << 3)) & MASK
    state[2] = ((((c << 21) & MASK) | (c >> 11)) + drawn) & MASK
    state[3] = (counter + 1) & MASK
    return drawn


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
def find_opponents(opponents: Any, known: Any, variance: Any, meetings: Any) -> None:
    """Write who meets i into opponents[i], after their number, and the variance of i into known[i] if anybody does."""
    for i in range(len(meetings)):
        count = 0
        for j in range(len(meetings)):
            if meetings[i, j] > 0:
                count += 1
                opponents[i, count] = j
        opponents[i, 0] = count
        known[i] = variance[i] if count > 0 else -2.0  # a system without a match is never the least known one


@jit
def weigh_opponents(mean: Any, opponents: Any, i: int, state: Any) -> int:
    """Draw an opponent of i with probability ∝ exp(-|mean_i - mean_j|), by the sum of all weights.

    The weights are relative to the largest one, so that not all of them are 0.
    """
    here, last = float(mean[i]), opponents[i, 0]
    nearest = abs(here - float(mean[opponents[i, 1]]))
    for k in range(2, last + 1):
        nearest = min(nearest, abs(here - float(mean[opponents[i, k]])))
    total = 0.0
    for k in range(1, last + 1):
        total += exp(nearest - abs(here - float(mean[opponents[i, k]])))
    left = draw_word(state) * 2.0**-32 * total
    for k in range(1, last):
        left -= exp(nearest - abs(here - float(mean[opponents[i, k]])))
        if left < 0.0:
            return int(opponents[i, k])
    return int(opponents[i, last])


@jit
def play_matches(
    mean: Any,
    variance: Any,
    wins: Any,
    meetings: Any,
    matches: int,
    beta: float,
    margin: float,
    state: Any,
    known: Any,
    opponents: Any,
) -> None:
    """Play the matches of several runs, in place. The first axis of every array is the run, and no run affects another.

    meetings[r, i, j] is the number of rows of a pair, wins[r, i, j] those i won. `known` and `opponents` are scratch
    memory, of the shapes (runs, systems) and (runs, systems, systems + 1).

    A match waits for the one before it in its run, so the runs take turns: a processor works at two matches at once.

    An opponent is drawn from all, and accepted with probability exp(-|mean_i - mean_j|), else another one is drawn. So
    most matches need one or two exponentials, however many opponents there are. Both numbers of a try come from one
    word: the integer part of a product is the opponent, and its fraction decides.
    """
    runs = len(mean)
    for r in range(runs):
        find_opponents(opponents[r], known[r], variance[r], meetings[r])
    for _ in range(matches):
        for r in range(runs):
            i = least_known(known[r])
            here, j = float(mean[r, i]), -1
            for _ in range(TRIES):
                product = draw_word(state[r]) * opponents[r, i, 0]
                drawn = opponents[r, i, 1 + (product >> 32)]
                if (product & MASK) * 2.0**-32 < exp(-abs(here - float(mean[r, drawn]))):
                    j = drawn
                    break
            if j < 0:
                j = weigh_opponents(mean[r], opponents[r], i, state[r])
            row = (draw_word(state[r]) * meetings[r, i, j]) >> 32
            order = int(row >= meetings[r, i, j] - wins[r, j, i]) - int(row < wins[r, i, j])
            mean[r, i], known[r, i], mean[r, j], known[r, j] = pair_update(
                here, float(known[r, i]), float(mean[r, j]), float(known[r, j]), order, beta, margin
            )
    for r in range(runs):
        for i in range(len(mean[r])):
            variance[r, i] = known[r, i] if known[r, i] > 0.0 else variance[r, i]
