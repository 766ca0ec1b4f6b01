"""Fragility: the comparisons that hold the gaps between a leader and some challengers up."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit

SIGNATURES = {
    "find_weakest": "q1 q1 d2 d3 d2 d1 d1 q1 q2 q1 -> q",
    "take_away": "d2 q1 q",
}


@jit
def sift_down(heap: Any, values: Any, place: int, size: int) -> None:
    """Move an entry of a heap down to its place. The largest value is at the top, of equal ones the lowest entry."""
    entry = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            one, other = heap[child], heap[child + 1]
            if values[other] > values[one] or (values[other] == values[one] and other < one):
                child += 1
        best = heap[child]
        if values[entry] > values[best] or (values[entry] == values[best] and entry < best):
            break
        heap[place] = best
        place = child
    heap[place] = entry


@jit
def find_supports(
    first: Any,
    second: Any,
    outcomes: Any,
    moments: Any,
    weight: Any,
    gap: float,
    influence: Any,
    heap: Any,
    cells: Any,
) -> int:
    """Write down the cells (3 pair + outcome) that hold a gap up, until they are enough. Return their number.

    The influence of one comparison on the gap is its slope times `weight`, whose last entry is the margin's. The cell
    with the largest influence is first.
    """
    last, size, number, fall = len(weight) - 1, 0, 0, 0.0
    for p in range(len(first)):
        by_pair = float(weight[first[p]]) - float(weight[second[p]])
        for k in range(3):
            value = moments[p, k, 0] * by_pair + moments[p, k, 1] * weight[last]
            influence[3 * p + k] = value
            if value > 0.0 and outcomes[p, k] > 0.0:
                heap[size] = 3 * p + k
                size += 1
    for place in range(size // 2 - 1, -1, -1):
        sift_down(heap, influence, place, size)
    while size > 0 and fall < gap:
        cell = heap[0]
        cells[number] = cell
        number += 1
        fall += influence[cell] * outcomes[cell // 3, cell % 3]
        size -= 1
        heap[0] = heap[size]
        sift_down(heap, influence, 0, size)
    return number


@jit
def find_weakest(
    first: Any,
    second: Any,
    outcomes: Any,
    moments: Any,
    weights: Any,
    gaps: Any,
    influence: Any,
    heap: Any,
    cells: Any,
    found: Any,
) -> int:
    """Find the supports of each gap. Return the gap with the fewest comparisons to take away.

    Row k of `cells` gets the supports of gap k. `found` gets the number of them and of the comparisons, by turns.
    """
    best = 0
    for k in range(len(gaps)):
        gap, own = float(gaps[k]), cells[k]
        number = find_supports(first, second, outcomes, moments, weights[k], gap, influence, heap, own)
        comparisons, fall, rest = 0.0, 0.0, 0
        for place in range(number):
            cell = own[place]
            times, each = float(outcomes[cell // 3, cell % 3]), float(influence[cell])
            if fall + each * times >= gap:  # the last one, of which a part is enough
                rest = int((gap - fall) / each)
                if rest < (gap - fall) / each:
                    rest += 1
            else:
                fall += each * times
                comparisons += times
        found[2 * k], found[2 * k + 1] = number, int(comparisons) + rest
        if found[2 * k + 1] < found[2 * best + 1]:
            best = k
    return best


@jit
def take_away(outcomes: Any, cells: Any, number: int) -> None:
    """Take comparisons away, in the order of the cells (3 pair + outcome)."""
    left = float(number)
    for k in range(len(cells)):
        cell = cells[k]
        p, outcome = cell // 3, cell % 3
        taken = max(min(left, float(outcomes[p, outcome])), 0.0)
        outcomes[p, outcome] -= taken
        left -= taken
