"""Judgments as pairwise outcomes on arrays: the data that methods learn from and are measured on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from streams.core.models import JudgmentBatch
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from streams.core.models.base import Floats, Ints
    from streams.wire.events import Judgment

WIN, TIE, LOSS = 0, 1, 2  # positions in (win, tie, loss); from the view of b, an outcome o is 2 - o


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Outcomes of a against b, by a judge on a segment, in log order. All columns are indices.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> verdict = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("b", "a", "c"), ranks=(2, 1, 2),
    ...                    at=EPOCH)
    >>> pairs = Pairs.of([verdict])
    >>> pairs.systems, pairs.a.tolist(), pairs.b.tolist(), pairs.outcome.tolist()
    (('a', 'b', 'c'), [1, 1, 0], [0, 2, 2], [2, 1, 0])
    """

    a: Ints
    b: Ints
    outcome: Ints
    judge: Ints
    segment: Ints
    systems: tuple[str, ...]
    judges: tuple[str, ...]
    segments: tuple[str, ...]

    def __post_init__(self) -> None:
        columns = {"a": self.systems, "b": self.systems, "judge": self.judges, "segment": self.segments}
        bounds = {name: len(names) for name, names in columns.items()} | {"outcome": 3}
        for name, bound in bounds.items():
            column: Ints = getattr(self, name)
            if column.shape != self.a.shape or column.ndim != 1:
                raise ParameterError(
                    f"{name} has shape {column.shape} and a has {self.a.shape}; pass one value of each per pair"
                )
            if len(column) and not 0 <= column.min() <= column.max() < bound:
                raise ParameterError(f"{name}: {column.min()} to {column.max()}, but it must be from 0 to {bound - 1}")
        if np.any(self.a == self.b):
            raise ParameterError(f"row {np.argmax(self.a == self.b)}: a system can't be compared with itself")

    @classmethod
    def of(cls, log: Iterable[Judgment]) -> Pairs:
        """Split rankings into pairs. n systems are n (n - 1) / 2 pairs, in the order in which they were shown."""
        from streams.core.methods.rankings import Rankings

        return Rankings.of(log).pairs

    @classmethod
    def parse(cls, outcomes: str) -> Pairs:
        """Return outcomes of system 0 against system 1, by one judge on one segment, written with > = and <.

        >>> Pairs.parse(">=<").outcome.tolist()
        [0, 1, 2]
        """
        zeros = np.zeros(len(outcomes), np.int64)
        return cls(
            a=zeros,
            b=zeros + 1,
            outcome=np.array([">=<".index(sign) for sign in outcomes], np.int64),
            judge=zeros,
            segment=zeros,
            systems=("0", "1"),
            judges=("0",),
            segments=("0",),
        )

    def __len__(self) -> int:
        return len(self.a)

    def select(self, rows: Ints | NDArray[np.bool_]) -> Pairs:
        """Return some of the pairs, by number or by mask. Indices keep their meaning."""
        columns = {name: getattr(self, name)[rows] for name in ("a", "b", "outcome", "judge", "segment")}
        return replace(self, **columns)

    def counts(self) -> tuple[Ints, Ints]:
        """Return wins[i, j] of i over j, and ties on both sides."""
        size = len(self.systems)
        wins, ties = np.zeros((2, size, size), np.int64)
        np.add.at(wins, (self.a[self.outcome == WIN], self.b[self.outcome == WIN]), 1)
        np.add.at(wins, (self.b[self.outcome == LOSS], self.a[self.outcome == LOSS]), 1)
        np.add.at(ties, (self.a[self.outcome == TIE], self.b[self.outcome == TIE]), 1)
        return wins, ties + ties.T

    def ordered_items(self) -> Ints:
        """Return the item id of each pair: the segment and the two systems in the order shown."""
        size = len(self.systems)
        return (self.segment * size + self.a) * size + self.b

    def items(self) -> tuple[Ints, Ints]:
        """Return the item id of each pair, independent of the order shown, and the outcome from the lower index."""
        turned = self.a > self.b
        first, second = np.where(turned, self.b, self.a), np.where(turned, self.a, self.b)
        size = len(self.systems)
        outcome: Ints = np.where(turned, 2 - self.outcome, self.outcome)
        return (self.segment * size + first) * size + second, outcome

    def points(self) -> Floats:
        """Return the points of a in each pair: 1 for a win, 0.5 for a tie, 0 for a loss."""
        return 1.0 - 0.5 * self.outcome.astype(np.float64)

    def to_batch(self) -> JudgmentBatch:
        """Return the pairs as a batch for online models, each as a ranking of two."""
        ranks = np.stack([np.where(self.outcome == LOSS, 2, 1), np.where(self.outcome == WIN, 2, 1)], axis=1)
        return JudgmentBatch(
            systems=np.stack([self.a, self.b], axis=1).ravel(),
            ranks=ranks.ravel(),
            starts=2 * np.arange(len(self) + 1),
            judges=self.judge,
            segments=self.segment,
            scores=np.full(len(self), np.nan),
        )
