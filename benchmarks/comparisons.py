"""Logs as arrays of comparisons, of which samples are counted in groups. The benchmark of boards uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams import formats
from streams.core.ranking.grouped_counts import GROUPS, GroupedCounts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from streams.wire.events import Judgment

    Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """The comparisons of a log: a ranking of n systems has n (n - 1) / 2 of them."""

    systems: tuple[str, ...]
    first: Ints
    second: Ints
    outcome: Ints  # of the first: 0 a win, 1 a tie, 2 a loss
    starts: Ints  # of the comparisons of each judgment, and the end
    judge: Ints  # of each judgment
    shown: tuple[Ints, Ints]  # systems of the judgments, and the judgment of each

    @property
    def judgments(self) -> int:
        return len(self.judge)

    @classmethod
    def of(cls, log: Iterable[Judgment]) -> Comparisons:
        rankings = [judgment for judgment in log if judgment.ranks is not None]
        systems = sorted({system for judgment in rankings for system in judgment.systems})
        index = {name: i for i, name in enumerate(systems)}
        judges: dict[str, int] = {}
        rows: list[tuple[int, int, int]] = []
        starts, judge, shown = [0], [], []
        for number, judgment in enumerate(rankings):
            assert judgment.ranks is not None
            ranked = sorted((index[name], rank) for name, rank in zip(judgment.systems, judgment.ranks, strict=True))
            for k, (a, x) in enumerate(ranked):
                rows += [(a, b, 1 + int(np.sign(x - y))) for b, y in ranked[k + 1 :]]
            starts.append(len(rows))
            judge.append(judges.setdefault(judgment.judge, len(judges)))
            shown += [(a, number) for a, _ in ranked]
        table, of = np.array(rows, np.int64).reshape(-1, 3), np.array(shown, np.int64).reshape(-1, 2)
        return cls(
            systems=tuple(systems),
            first=table[:, 0],
            second=table[:, 1],
            outcome=table[:, 2],
            starts=np.array(starts),
            judge=np.array(judge, np.int64),
            shown=(of[:, 0], of[:, 1]),
        )

    def sample(self, chosen: Ints, random: np.random.Generator) -> GroupedCounts:
        """Count some judgments, which may repeat. Each is a judgment of its own; the groups are random."""
        sizes = np.diff(self.starts)[chosen]
        own = np.repeat(np.arange(len(chosen)), sizes)
        place = np.arange(len(own)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = np.repeat(self.starts[chosen], sizes) + place
        times = np.bincount(chosen, minlength=self.judgments)
        return count_groups(
            self.systems,
            self.first[rows],
            self.second[rows],
            self.outcome[rows],
            by_judgment=random.integers(GROUPS, size=len(chosen))[own],
            by_judge=random.integers(GROUPS, size=int(self.judge.max(initial=0)) + 1)[self.judge[chosen]][own],
            judgments=np.bincount(self.shown[0], times[self.shown[1]], len(self.systems)).astype(np.int64),
            rankings=len(chosen),
            judges=len(np.unique(self.judge[chosen])),
        )


def count_groups(
    systems: tuple[str, ...],
    first: Ints,
    second: Ints,
    outcome: Ints,
    *,
    by_judgment: Ints,
    by_judge: Ints,
    judgments: Ints,
    rankings: int,
    judges: int,
) -> GroupedCounts:
    """Count comparisons of which the groups are known. The first system of each comes before the second one."""
    pairs, slot = np.unique(first * len(systems) + second, return_inverse=True)
    tables = []
    for groups in (by_judgment, by_judge):
        cells = np.bincount((slot * GROUPS + groups) * 3 + outcome, minlength=len(pairs) * GROUPS * 3)
        tables.append(cells.astype(np.int64).reshape(len(pairs), GROUPS, 3))
    return GroupedCounts(
        systems=systems,
        first=pairs // len(systems),
        second=pairs % len(systems),
        by_judgment=tables[0],
        by_judge=tables[1],
        judgments=judgments,
        rankings=rankings,
        judges=judges,
    )


def read_campaigns(path: Path, *, fewest: int) -> dict[str, Comparisons]:
    """Return the campaigns of a file with at least so many rankings."""
    logs: dict[str, list[Judgment]] = {}
    for entry in formats.read(path):
        logs.setdefault(entry.judgment.campaign, []).append(entry.judgment)
    return {name: Comparisons.of(log) for name, log in sorted(logs.items()) if len(log) >= fewest}
