"""The rankings of a campaign on arrays, and the pairwise outcomes in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.pairs import Pairs
from streams.core.models import JudgmentBatch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.core.models.base import Ints
    from streams.wire.events import Judgment


@dataclass(frozen=True, kw_only=True, eq=False)
class Rankings:
    """Ranking k is of system[starts[k]:starts[k + 1]] with these ranks, by judge[k] on segment[k], all as indices.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("b", "a", "c"), ranks=(2, 1, 2),
    ...                    at=EPOCH)
    >>> rankings = Rankings.of([verdict, verdict])
    >>> len(rankings), len(rankings.pairs), rankings.number.tolist()
    (2, 6, [0, 0, 0, 1, 1, 1])
    """

    system: Ints
    rank: Ints
    starts: Ints
    judge: Ints
    segment: Ints
    systems: tuple[str, ...]
    judges: tuple[str, ...]
    segments: tuple[str, ...]

    @classmethod
    def of(cls, log: Iterable[Judgment]) -> Rankings:
        """Return the rankings of a log, in log order. Direct assessments are left out."""
        rankings = [judgment for judgment in log if judgment.ranks is not None]
        systems, system = _indexed(name for judgment in rankings for name in judgment.systems)
        judges, judge = _indexed(judgment.judge for judgment in rankings)
        segments, segment = _indexed(judgment.segment for judgment in rankings)
        return cls(
            system=system,
            rank=np.array([rank for judgment in rankings for rank in judgment.ranks or ()], np.int64),
            starts=np.cumsum([0, *(len(judgment.systems) for judgment in rankings)], dtype=np.int64),
            judge=judge,
            segment=segment,
            systems=systems,
            judges=judges,
            segments=segments,
        )

    def __len__(self) -> int:
        return len(self.judge)

    @property
    def sizes(self) -> Ints:
        """Return the number of systems in each ranking."""
        return np.diff(self.starts)

    @cached_property
    def pairs(self) -> Pairs:
        """Return all pairs. n systems are n (n - 1) / 2 pairs, in the order in which they were shown."""
        first, second, number = self._pair_places
        return Pairs(
            a=self.system[first],
            b=self.system[second],
            outcome=np.sign(self.rank[first] - self.rank[second]) + 1,
            judge=self.judge[number],
            segment=self.segment[number],
            systems=self.systems,
            judges=self.judges,
            segments=self.segments,
        )

    @property
    def number(self) -> Ints:
        """Return the number of the ranking that each pair comes from."""
        return self._pair_places[2]

    def select(self, rows: Ints) -> Rankings:
        """Return some rankings, in this order. A ranking may be taken several times."""
        sizes = self.sizes[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(self.starts[rows] - starts[:-1], sizes) + np.arange(starts[-1])
        return replace(
            self,
            system=self.system[places],
            rank=self.rank[places],
            starts=starts,
            judge=self.judge[rows],
            segment=self.segment[rows],
        )

    def pairs_of(self, rows: Ints) -> Pairs:
        """Return the pairs of some rankings."""
        return self.pairs.select(np.flatnonzero(np.isin(self.number, rows)))

    def to_batch(
        self, rows: Ints, *, ways: int | None = None, random: np.random.Generator | None = None
    ) -> JudgmentBatch:
        """Return some rankings, in this order, as a batch for online models.

        With `ways`, each ranking is cut to this many systems, drawn at random. Smaller rankings stay whole.
        """
        sizes = self.sizes[rows]
        within = np.arange(sizes.max(initial=0))
        taken = np.broadcast_to(within, (len(rows), len(within))) < sizes[:, None]
        if ways is not None and random is not None:
            # Keep the systems with the smallest draws of their ranking, so that all subsets are equally likely.
            draws = np.where(taken, random.random(taken.shape), np.inf)
            taken &= draws.argsort(axis=1).argsort(axis=1) < ways
        places = (self.starts[rows][:, None] + within)[taken]
        return JudgmentBatch(
            systems=self.system[places],
            ranks=self.rank[places],
            starts=np.concatenate([[0], np.cumsum(taken.sum(axis=1))]),
            judges=self.judge[rows],
            segments=self.segment[rows],
            scores=np.full(len(rows), np.nan),
        )

    @cached_property
    def _pair_places(self) -> tuple[Ints, Ints, Ints]:
        return _combinations(self.starts[:-1], self.sizes)


def _indexed(names: Iterable[str]) -> tuple[tuple[str, ...], Ints]:
    listed = list(names)
    known = tuple(sorted(set(listed)))
    index = {name: number for number, name in enumerate(known)}
    return known, np.array([index[name] for name in listed], np.int64)


def _combinations(starts: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the places of both members of every pair within each ranking, and the number of the ranking."""
    parts = []
    for size in np.unique(sizes):
        number = np.flatnonzero(sizes == size)
        first, second = np.triu_indices(size, 1)
        places = [(starts[number][:, None] + place).ravel() for place in (first, second)]
        parts.append(np.stack([*places, np.repeat(number, len(first))]))
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    joined = np.concatenate(parts, axis=1)
    first, second, number = joined[:, np.argsort(joined[2], kind="stable")]
    return first, second, number
