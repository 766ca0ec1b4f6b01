"""The scores of direct assessment by cell, in sums that do not depend on the order of the scores."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streams.errors import StoreOutdated

if TYPE_CHECKING:
    from streams.core.models.base import Cell, Floats, Ints

SPLIT = 134217729.0  # 2^27 + 1


@dataclass(frozen=True, kw_only=True)
class ScoreCells:
    """The scores of each system on each segment by each judge, one row per cell. Indices are those of the model.

    `mean` is a cell's mean and `within` the sum of the squared differences from it. An output is what a system made of
    one segment; `output` numbers the outputs from 0, in any order. `segments` is 1, or the number of segments that a
    cell of the shared segment stands for. If the scores are to be `standardised`, the mean and the deviation of each
    judge become 0 and 1. `prior` is the mean and the deviation of a segment's score before any is known, and `unseen`
    the deviation of a system without a score.
    """

    system: Ints
    segment: Ints
    judge: Ints
    output: Ints
    count: Floats
    mean: Floats
    within: Floats
    segments: Floats
    systems: int
    standardised: bool
    prior: tuple[float, float]
    unseen: float


class RepeatedScores(NamedTuple):
    """The sum of some scores and of their squares, each as a double and the part that it has no digits for.

    Two doubles have 106 bits, so that the sums are the same in any order of the scores.

    >>> one = RepeatedScores.of(0.1).add(0.2).add(0.3)
    >>> one == RepeatedScores.of(0.3).add(0.2).add(0.1)
    True
    """

    total: float
    rest: float
    squares: float
    squares_rest: float

    @classmethod
    def of(cls, score: float) -> RepeatedScores:
        """Return the sums of one score."""
        return cls(score, 0.0, *_square(score))

    def add(self, score: float) -> RepeatedScores:
        """Return the sums with one more score."""
        square, square_rest = _square(score)
        total, rest = _add(self.total, score)
        squares, squares_rest = _add(self.squares, square)
        return RepeatedScores(
            *_add(total, rest + self.rest), *_add(squares, squares_rest + (self.squares_rest + square_rest))
        )

    @classmethod
    def load(cls, row: tuple[float, ...]) -> RepeatedScores:
        """Return what was stored, or raise StoreOutdated if an earlier version kept less."""
        if len(row) < len(cls._fields):
            raise StoreOutdated("the sums of repeated scores are incomplete, as an earlier version stored them")
        return cls(*row)

    def within(self, count: float) -> float:
        """Return the sum of the squared differences from the mean of `count` scores."""
        total, squares = (
            Fraction(self.total) + Fraction(self.rest),
            Fraction(self.squares) + Fraction(self.squares_rest),
        )
        return max(float(squares - total * total / int(count)), 0.0)


class CellSums:
    """The number and the sum of the scores of each cell, and more of the cells with several scores."""

    def __init__(self) -> None:
        self.places: dict[Cell, int] = {}
        # Scores arrive one by one. Appending to an array is fast, and numpy reads the same memory.
        self._counts, self._totals = array("d"), array("d")
        self._repeated: dict[int, RepeatedScores] = {}  # by place

    def add(self, cell: Cell, score: float) -> None:
        """Add a score."""
        place = self._place(cell)
        self._counts[place] += 1.0
        if self._counts[place] == 1.0:
            self._totals[place] = score
            return
        before = self._repeated.get(place) or RepeatedScores.of(self._totals[place])
        self._repeated[place] = sums = before.add(score)
        self._totals[place] = sums.total

    def dump(self, cell: Cell) -> tuple[float, ...]:
        """Return the number and the sum of the scores of a cell, and of several scores all of `RepeatedScores`."""
        place = self.places[cell]
        repeated = self._repeated.get(place)
        return (self._counts[place], self._totals[place]) if repeated is None else (self._counts[place], *repeated)

    def load(self, cell: Cell, row: tuple[float, ...]) -> None:
        """Restore a cell."""
        place = self._place(cell)
        self._counts[place], self._totals[place] = row[:2]
        self._repeated.pop(place, None)
        if row[0] > 1.0:
            self._repeated[place] = RepeatedScores.load(row[1:])

    def columns(self, places: Ints) -> tuple[Floats, Floats]:
        """Return the numbers and the sums of the scores of some cells."""
        return np.array(self._counts)[places], np.array(self._totals)[places]

    def within(self, places: Ints) -> Floats:
        """Return the squared differences from the mean of each cell, summed."""
        found = np.zeros(len(self._counts))
        for place, sums in self._repeated.items():
            found[place] = sums.within(self._counts[place])
        return found[places]

    def _place(self, cell: Cell) -> int:
        place = self.places.setdefault(cell, len(self._counts))
        if place == len(self._counts):
            self._counts.append(0.0)
            self._totals.append(0.0)
        return place


def sum_by(groups: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of the values of each group, added in the order of their size.

    >>> sum_by(np.array([1, 1, 1, 0]), np.array([0.3, 0.1, 0.2, 5.0]), 3).tolist()
    [5.0, 0.6000000000000001, 0.0]
    """
    order = np.lexsort((values, groups))
    return np.bincount(groups[order], values[order], size).astype(np.float64)


def _add(a: float, b: float) -> tuple[float, float]:
    """Return a + b and the part that was rounded off."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _square(x: float) -> tuple[float, float]:
    """Return x² and the part that was rounded off."""
    high = SPLIT * x
    high -= high - x
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2.0 * high * low) + low * low
