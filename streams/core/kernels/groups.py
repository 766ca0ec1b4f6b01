"""Counts of pairs in groups: one number per pair that met, and two increments per pair and ranking."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit

SIGNATURES = {
    "number_pairs": "i2 q1 q1 q -> q",
    "count_groups": "i2 i2 q1 q1 q1 q1 q1 q",
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
