"""Pair counts: how often each system beat and tied with each other system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.core.ranking.ranges import Floats, Ints
    from streams.wire.events import Judgment


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """The outcomes of each pair: all that a ranking from pairs depends on. Systems are in order of name.

    `wins[i, j]` counts the wins of i over j, `ties[i, j]` and `ties[j, i]` their ties, `judgments[i]` the rankings
    with i.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("b", "a"), ranks=(2, 1), at=EPOCH)
    >>> counts = PairCounts.of([verdict])
    >>> counts.systems, counts.wins.tolist()
    (('a', 'b'), [[0, 1], [0, 0]])
    """

    systems: tuple[str, ...]
    wins: Ints
    ties: Ints
    judgments: Ints

    @classmethod
    def of(cls, log: Iterable[Judgment]) -> PairCounts:
        """Count the pairs of the rankings in a log. Their order does not matter."""
        rankings = [(judgment.systems, judgment.ranks) for judgment in log if judgment.ranks is not None]
        names = sorted({system for systems, _ in rankings for system in systems})
        index = {name: i for i, name in enumerate(names)}
        starts = np.cumsum([0, *(len(systems) for systems, _ in rankings)], dtype=np.int64)
        systems = np.fromiter((index[name] for names, _ in rankings for name in names), np.int64, starts[-1])
        ranks = np.fromiter((rank for _, ranks in rankings for rank in ranks), np.int64, starts[-1])
        wins, ties = np.zeros((2, len(names), len(names)), np.int64)
        sizes = np.diff(starts)
        kernels.suited("pairs", int((sizes * (sizes - 1) // 2).sum())).count_rankings(
            wins, ties, np.zeros(wins.shape, np.bool_), systems, ranks, starts
        )
        return cls(systems=tuple(names), wins=wins, ties=ties, judgments=np.bincount(systems, minlength=len(names)))

    @property
    def decided(self) -> int:
        """Return the number of comparisons without ties."""
        return int(self.wins.sum())

    @property
    def comparisons(self) -> int:
        """Return the number of pairwise outcomes, the |A| of the official procedure."""
        return self.decided + int(self.ties.sum()) // 2

    def head_to_head(self) -> Floats:
        """Return the share of i's wins over j at [i, j], without ties. It is NaN if there were only ties.

        >>> PairCounts(systems=("a", "b"), wins=np.array([[0, 3], [1, 0]]), ties=np.zeros((2, 2), int),
        ...            judgments=np.array([4, 4])).head_to_head().tolist()
        [[nan, 0.75], [0.25, nan]]
        """
        met = self.wins + self.wins.T
        share: Floats = np.divide(self.wins, met, out=np.full(met.shape, np.nan), where=met > 0)
        return share

    def resample(self, runs: int, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Draw as many comparisons with replacement, `runs` times. Return wins and ties, one table per run.

        Drawing comparisons is the same as drawing the count of each outcome from a multinomial distribution.
        """
        upper = np.triu(self.ties)
        where = (*np.nonzero(self.wins), *np.nonzero(upper))
        cells = np.concatenate([self.wins[where[:2]], upper[where[2:]]])
        wins, ties = np.zeros((2, runs, *self.wins.shape), np.int64)
        if len(cells):
            drawn = random.multinomial(cells.sum(), cells / cells.sum(), size=runs)
            won = len(where[0])
            wins[:, *where[:2]] = drawn[:, :won]
            ties[:, *where[2:]] = drawn[:, won:]
        return wins, ties + ties.transpose(0, 2, 1)
