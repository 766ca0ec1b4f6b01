"""The votes of judges against what the votes before them predict: sums per judge, and per judge and system.

Abilities are followed beside the ratings, because no judge may weigh much in what they are compared with. The unit is
the noise of a difference. Sums are whole numbers of 1 / SCALE, so that they are exact and short.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from streams.compiler import inlined, jit
from streams.core.kernels.elementary import exp
from streams.core.kernels.normal import NORM, upper_tail

SIGNATURES = {
    "follow_votes": "d1 d1 d1 q2 q2 q1 q1 q1 q1 q1",
    "number_cells": "i1 q2 q1 q1 q1 q1 q1 q1 -> ?",
    "pack_judges": "q2 q2 q2 q1 q1 q1 B1 q1",
}

SCALE = 1024.0
LARGEST_SHARE = 0.02  # of the prediction, that one judge may have
SMALLEST_MARGIN = 1e-3
RARE = 1e-12
# Places in `shared`: the tie margin, the curvature for it, the weight of all votes, and the number of judges.
MARGIN, MARGIN_INFORMATION, UNITS, JUDGES = 0, 1, 2, 3
PRIME = 2**31 - 1


@inlined
def fixed(x: float) -> int:
    """Return a number in units of 1 / SCALE, rounded."""
    return int(x * SCALE + 0.5) if x >= 0.0 else -int(0.5 - x * SCALE)


@inlined
def predicted(
    ability: Any, information: Any, margin: float, i: int, j: int
) -> tuple[float, float, float, float, float]:
    """Return P(win) and P(loss) of i against j, the densities at their bounds, and the scale of the difference."""
    gap = float(ability[i]) - float(ability[j])
    scale = sqrt(1.0 + 1.0 / float(information[i]) + 1.0 / float(information[j]))
    low, high = (margin - gap) / scale, (margin + gap) / scale
    win, loss = max(upper_tail(low), RARE), max(upper_tail(high), RARE)
    return win, loss, NORM * exp(-0.5 * low * low), NORM * exp(-0.5 * high * high), scale


@inlined
def learn(ability: Any, information: Any, shared: Any, i: int, j: int, order: int, weight: float) -> None:
    """Move the abilities and the tie margin by one outcome. order < 0: i is better, > 0: j is better, 0: a tie."""
    prediction = predicted(ability, information, float(shared[MARGIN]), i, j)
    learn_from(prediction, ability, information, shared, i, j, order, weight)


@inlined
def learn_from(
    prediction: tuple[float, float, float, float, float],
    ability: Any,
    information: Any,
    shared: Any,
    i: int,
    j: int,
    order: int,
    weight: float,
) -> None:
    """Move the abilities and the tie margin by one outcome, which was predicted before."""
    win, loss, at_win, at_loss, scale = prediction
    tie, change = max(1.0 - win - loss, RARE), at_loss - at_win
    slope = at_win / win if order < 0 else -at_loss / loss if order > 0 else change / tie
    curve = weight * (at_win * at_win / win + at_loss * at_loss / loss + change * change / tie) / (scale * scale)
    step = weight * slope / scale
    ability[i] += step / information[i]
    ability[j] -= step / information[j]
    information[i] += curve
    information[j] += curve
    shared[MARGIN_INFORMATION] += weight * (at_win + at_loss) / scale
    missing = (1.0 if order == 0 else 0.0) - tie
    shared[MARGIN] = max(float(shared[MARGIN]) + weight * missing / shared[MARGIN_INFORMATION], SMALLEST_MARGIN)


@jit
def follow_votes(
    ability: Any,
    information: Any,
    shared: Any,
    by_judge: Any,
    by_cell: Any,
    cells: Any,
    judges: Any,
    systems: Any,
    ranks: Any,
    starts: Any,
) -> None:
    """Add rankings to the sums, in order. Each is compared with the prediction before it, and then moves it.

    `cells` has the row in `by_cell` of each system of each ranking. A row of `by_judge` has the weight of the votes,
    then total and variance for agreement, position and ties, then the weight of the votes for the system shown first,
    of those for the one shown later, and of the squared predictions. A row of `by_cell` has total, variance, covariance
    with the agreement, and the weight of the votes.
    """
    for k in range(len(starts) - 1):
        first, last, judge = starts[k], starts[k + 1], judges[k]
        if last - first < 2:
            continue
        unit = 2.0 / (last - first)
        share = fixed(unit)
        own = by_judge[judge, 0] / SCALE
        if own == 0.0:
            shared[JUDGES] += 1.0
        most = max(LARGEST_SHARE, 2.0 / shared[JUDGES]) * shared[UNITS]
        weight = unit if own <= most else unit * most / own
        for a in range(first, last):
            for b in range(a + 1, last):
                i, j, order = systems[a], systems[b], ranks[a] - ranks[b]
                prediction = predicted(ability, information, float(shared[MARGIN]), i, j)
                win, loss, _, _, _ = prediction
                expected, tie = win - loss, max(1.0 - win - loss, RARE)
                outcome = 1.0 if order < 0 else -1.0 if order > 0 else 0.0
                total, spread = unit * (outcome - expected), unit * (win + loss - expected * expected)
                tied = 1.0 if order == 0 else 0.0
                residual, variance, common = fixed(total), fixed(spread), fixed(spread * expected)
                by_judge[judge, 0] += share
                by_judge[judge, 1] += fixed(total * expected)
                by_judge[judge, 2] += fixed(spread * expected * expected)
                by_judge[judge, 3] += residual
                by_judge[judge, 4] += variance
                by_judge[judge, 5] += fixed(unit * (tied - tie))
                by_judge[judge, 6] += fixed(unit * tie * (1.0 - tie))
                by_judge[judge, 7] += share if order < 0 else 0
                by_judge[judge, 8] += share if order > 0 else 0
                by_judge[judge, 9] += fixed(unit * expected * expected)
                x, y = cells[a], cells[b]
                by_cell[x, 0] += residual
                by_cell[y, 0] -= residual
                by_cell[x, 1] += variance
                by_cell[y, 1] += variance
                by_cell[x, 2] += common
                by_cell[y, 2] -= common
                by_cell[x, 3] += share
                by_cell[y, 3] += share
        shared[UNITS] += last - first - 1.0
        if last - first == 2:  # nothing has moved since the prediction
            learn_from(prediction, ability, information, shared, i, j, order, weight)
            continue
        for a in range(first, last):
            for b in range(a + 1, last):
                learn(ability, information, shared, systems[a], systems[b], ranks[a] - ranks[b], weight)


@jit
def number_cells(
    slots: Any, keys: Any, used: Any, seed: Any, judges: Any, systems: Any, starts: Any, cells: Any
) -> bool:
    """Fill `cells` with the row of each system of each ranking and its judge. Return False if a table must grow.

    Row n belongs to the judge keys[n, 0] and the system keys[n, 1]. A judge and a system that meet for the first time
    get the row used[0]. `slots` is a hash table of rows, with -1 where it is free. Its size is a power of two.
    """
    last, count = len(slots) - 1, used[0]
    for k in range(len(starts) - 1):
        judge = judges[k]
        for a in range(starts[k], starts[k + 1]):
            system = systems[a]
            slot = (seed[0] * judge + seed[1] * system) % PRIME & last
            while slots[slot] >= 0 and (keys[slots[slot], 0] != judge or keys[slots[slot], 1] != system):
                slot = (slot + 1) & last
            if slots[slot] < 0:
                if count == len(keys) or 2 * count > last:
                    used[0] = count
                    return False
                slots[slot], keys[count, 0], keys[count, 1] = count, judge, system
                count += 1
            cells[a] = slots[slot]
    used[0] = count
    return True


@inlined
def signed_width(most: int) -> int:
    """Return the bytes of each number of a row, given the largest one without its sign."""
    return 1 if most < 1 << 7 else 2 if most < 1 << 15 else 4 if most < 1 << 31 else 8


@inlined
def put(packed: Any, at: int, number: int, width: int) -> int:
    """Write a number, little-endian, and return the place after it."""
    for _ in range(width):
        packed[at] = number & 255
        number >>= 8
        at += 1
    return at


@jit
def pack_judges(
    by_judge: Any, by_cell: Any, keys: Any, judges: Any, cells: Any, met: Any, packed: Any, ends: Any
) -> None:
    """Write the rows of some judges one after the other, and where each ends.

    A row is the bytes per number of its two parts, the sums of the judge, and for each of their cells the system and
    the sums. `cells` are those of the first judge, then those of the next. `met` is how many each judge has.
    """
    at, first = 0, 0
    for k in range(len(judges)):
        judge, last, own, other = judges[k], first + met[k], 0, 0
        for column in range(by_judge.shape[1]):
            own = max(own, abs(int(by_judge[judge, column])))
        for place in range(first, last):
            other = max(other, int(keys[cells[place], 1]))
            for column in range(by_cell.shape[1]):
                other = max(other, abs(int(by_cell[cells[place], column])))
        own, other = signed_width(own), signed_width(other)
        packed[at], packed[at + 1] = own, other
        at += 2
        for column in range(by_judge.shape[1]):
            at = put(packed, at, int(by_judge[judge, column]), own)
        for place in range(first, last):
            at = put(packed, at, int(keys[cells[place], 1]), other)
            for column in range(by_cell.shape[1]):
                at = put(packed, at, int(by_cell[cells[place], column]), other)
        ends[k] = at
        first = last
