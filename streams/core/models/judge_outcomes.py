"""The outcomes of each judge by pair, from which the weights of judges on the board are computed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streams.core.models.base import Floats, Ints, JudgmentBatch

MOST_CELLS = 200_000  # pairs of systems by judge; each takes about 300 bytes


@dataclass(frozen=True, kw_only=True)
class JudgeOutcomes:
    """The outcomes of each pair by each judge: wins of the first system, ties, wins of the second one.

    Judges and systems are indices, and the first system of a pair has the smaller one.
    """

    judge: Ints
    first: Ints
    second: Ints
    outcomes: Floats  # (cells, 3)

    def rearrange(self, place: Ints) -> JudgeOutcomes:
        """Return the outcomes with the systems at other places, those of a judge in order of the systems."""
        a, b = place[self.first], place[self.second]
        first, second = np.minimum(a, b), np.maximum(a, b)
        outcomes = np.where((a > b)[:, None], self.outcomes[:, ::-1], self.outcomes)
        order = np.lexsort((second, first, self.judge))
        return JudgeOutcomes(
            judge=self.judge[order], first=first[order], second=second[order], outcomes=outcomes[order]
        )


class JudgeAnswers:
    """The outcomes of each pair by each judge, as they come. Beyond `MOST_CELLS` pairs by judge nothing is kept."""

    def __init__(self, most: int | None = None) -> None:
        self._most = MOST_CELLS if most is None else most
        self._pairs: dict[int, dict[tuple[int, int], list[float]]] = {}  # by judge
        self._cells = 0
        self.full = False

    def add(self, batch: JudgmentBatch) -> None:
        """Count the outcomes of rankings."""
        if self.full:
            return
        starts, systems, ranks = batch.starts.tolist(), batch.systems.tolist(), batch.ranks.tolist()
        for k, judge in enumerate(batch.judges.tolist()):
            known = self._pairs.setdefault(judge, {})
            before = len(known)
            part = slice(starts[k], starts[k + 1])
            for pair, outcome in _outcomes_of(systems[part], ranks[part]):
                known.setdefault(pair, [0.0, 0.0, 0.0])[outcome] += 1.0
            self._cells += len(known) - before
        if self._cells > self._most:
            self.drop()

    def take_back(self, judge: int, systems: Sequence[int], ranks: Sequence[int]) -> None:
        """Subtract the outcomes of a ranking that was added."""
        if self.full:
            return
        known = self._pairs[judge]
        for pair, outcome in _outcomes_of(systems, ranks):
            known[pair][outcome] -= 1.0
            if not any(known[pair]):
                del known[pair]
                self._cells -= 1

    def drop(self) -> None:
        """Forget everything, and keep nothing from now on."""
        self.full = True
        self._pairs.clear()

    def dump(self, judge: int) -> tuple[float, ...]:
        """Return the two systems and the three outcomes of each pair of a judge, in order of the systems."""
        known = self._pairs.get(judge, {})
        return tuple(number for pair in sorted(known) for number in (*map(float, pair), *known[pair]))

    def load(self, judge: int, row: tuple[float, ...]) -> None:
        """Restore the outcomes of a judge."""
        if not self.full:
            self._cells -= len(self._pairs.get(judge, {}))
            cells = np.array(row).reshape(-1, 5)
            self._pairs[judge] = {(int(a), int(b)): [won, tied, lost] for a, b, won, tied, lost in cells.tolist()}
            self._cells += len(cells)

    def outcomes(self) -> JudgeOutcomes | None:
        """Return a copy of all outcomes, or None if there were too many."""
        if self.full:
            return None
        cells = [(judge, *pair, *counts) for judge, known in self._pairs.items() for pair, counts in known.items()]
        table = np.array(cells, np.float64).reshape(-1, 6)
        judge, first, second = table[:, :3].astype(np.int64).T
        return JudgeOutcomes(judge=judge, first=first, second=second, outcomes=table[:, 3:])


def _outcomes_of(systems: Sequence[int], ranks: Sequence[int]) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield each pair of a ranking, the smaller index first, and the place of its outcome."""
    for (x, rank), (y, other) in combinations(zip(systems, ranks, strict=True), 2):
        pair, order = ((x, y), rank - other) if x < y else ((y, x), other - rank)
        yield pair, 1 + (order > 0) - (order < 0)
