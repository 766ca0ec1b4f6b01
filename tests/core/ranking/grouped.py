"""Grouped counts for tests: made from outcomes of pairs, or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from streams.core.ranking.grouped_counts import GROUPS, GroupedCounts


def counted(
    outcomes: Mapping[tuple[str, str], tuple[int, int, int]], *, judges: int = 50, seed: int = 0, more: str = ""
) -> GroupedCounts:
    """Return the counts of single comparisons: wins, ties and losses of each pair. `more` names lonely systems.

    Comparisons are dealt to the groups in turn, in a random order.
    """
    random = np.random.default_rng(seed)
    names = tuple(sorted({name for pair in outcomes for name in pair} | set(more)))
    index = {name: i for i, name in enumerate(names)}
    turned = {
        (index[min(pair)], index[max(pair)]): won if pair[0] < pair[1] else won[::-1] for pair, won in outcomes.items()
    }
    pairs = sorted(turned)
    first, second = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    cells = np.repeat(np.arange(3 * len(pairs)), np.array([turned[pair] for pair in pairs], np.int64).ravel())
    groups = [np.zeros((len(pairs), GROUPS, 3), np.int64) for _ in range(2)]
    for number, each in enumerate(groups):
        dealt = random.permutation(len(cells)) % (GROUPS if number == 0 else min(judges, GROUPS))
        np.add.at(each, (cells // 3, dealt, cells % 3), 1)
    return GroupedCounts(
        systems=names,
        first=first,
        second=second,
        by_judgment=groups[0],
        by_judge=groups[1],
        judgments=(np.bincount(first[cells // 3], minlength=len(names)) if len(cells) else np.zeros(len(names), int))
        + (np.bincount(second[cells // 3], minlength=len(names)) if len(cells) else np.zeros(len(names), int)),
        rankings=len(cells),
        judges=judges,
    )


def drawn(systems: int, judgments: int, *, spread: float = 0.7, seed: int = 1, judges: int = 50) -> GroupedCounts:
    """Return the counts of random comparisons of systems with random abilities."""
    random = np.random.default_rng(seed)
    ability = random.normal(size=systems) * spread
    outcomes: dict[tuple[str, str], list[int]] = {}
    for _ in range(judgments):
        a, b = sorted(random.choice(systems, 2, replace=False).tolist())
        seen = ability[a] - ability[b] + random.normal()
        outcome = 0 if seen > 0.3 else 2 if seen < -0.3 else 1
        outcomes.setdefault((f"s{a:03}", f"s{b:03}"), [0, 0, 0])[outcome] += 1
    return counted({pair: (won[0], won[1], won[2]) for pair, won in outcomes.items()}, judges=judges, seed=seed)
