"""Counts of pairs in groups: one number per pair that met, and two increments per pair and ranking."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit

SIGNATURES = {
    "number_pairs": "i2 q1 q1 q -> q",
    "count_groups": "i2 i2 q1 q1 q1 q1 q1 q",
    "pack_rows": "i2 i2 q2 q B1 q1",
    "arrange_groups": "i2 i2 q1 q1 q1 q3 q3 -> q",
}


@jit
def number_pairs(slots: Any, systems: Any, starts: Any, used: int) -> int:
    """Number each pair that meets for the first time: slots[lower, upper] is the next one. Return their number."""
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                i, j = systems[a], systems[b]
                lower, upper = min(i, j), max(i, j)
                if slots[lower, upper] < 0:
                    slots[lower, upper] = used
                    used += 1
    return used


@jit
def count_groups(
    cells: Any, slots: Any, by_judgment: Any, by_judge: Any, systems: Any, ranks: Any, starts: Any, groups: int
) -> None:
    """Count the pairs of rankings. Ranking k is in the groups by_judgment[k] and by_judge[k].

    A row of cells has wins, ties and losses of the lower system in each group by judgment, then in each by judge.
    """
    for k in range(len(starts) - 1):
        own, other = 3 * by_judgment[k], 3 * (groups + by_judge[k])
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                i, j, order = systems[a], systems[b], ranks[a] - ranks[b]
                if i > j:
                    i, j, order = j, i, -order
                outcome = 0 if order < 0 else 2 if order > 0 else 1
                row = slots[i, j]
                cells[row, own + outcome] += 1
                cells[row, other + outcome] += 1


@jit
def pack_rows(cells: Any, slots: Any, pairs: Any, groups: int, packed: Any, ends: Any) -> None:
    """Write the rows of some pairs one after the other, and where each ends.

    A row is the number of groups, the bytes per count, one bit per cell that says whether it is above 0, and these
    counts, little-endian.
    """
    at, size = 0, cells.shape[1]
    for k in range(len(pairs)):
        row, most = slots[pairs[k, 0], pairs[k, 1]], 0
        for cell in range(size):
            most = max(most, cells[row, cell])
        width = 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4
        packed[at], packed[at + 1] = groups, width
        at += 2
        for first in range(0, size, 8):
            bits = 0
            for cell in range(first, first + 8):
                bits = 2 * bits + (1 if cells[row, cell] > 0 else 0)
            packed[at] = bits
            at += 1
        for cell in range(size):
            count = int(cells[row, cell])
            if count > 0:
                for _ in range(width):
                    packed[at] = count & 255
                    count >>= 8
                    at += 1
        ends[k] = at


@jit
def arrange_groups(cells: Any, slots: Any, order: Any, first: Any, second: Any, by_judgment: Any, by_judge: Any) -> int:
    """Copy the counts of each pair, with the systems in another order. Return the number of pairs.

    Pairs without counts, because their votes were taken back, are left out.
    """
    pairs, groups = 0, by_judge.shape[1]
    for a in range(len(order)):
        for b in range(a + 1, len(order)):
            i, j = order[a], order[b]
            row = slots[min(i, j), max(i, j)]
            if row < 0:
                continue
            own, other, most = by_judgment[pairs], by_judge[pairs], 0
            for g in range(groups):
                for k in range(3):
                    outcome = k if i < j else 2 - k
                    own[g, k], other[g, k] = cells[row, 3 * g + outcome], cells[row, 3 * (groups + g) + outcome]
                    most = max(most, own[g, k])
            if most > 0:
                first[pairs], second[pairs] = a, b
                pairs += 1
    return pairs
