"""The residuals of each judge: their votes minus what the other judges predict, in standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.judges.prediction import RARE
from streams.core.kernels.judges import CELL_SUMS, JUDGE_SUMS, VECTORS

if TYPE_CHECKING:
    from streams.core.judges.prediction import VotePrediction
    from streams.core.judges.votes import Floats, Ints, Votes

_UPDATES = 50  # that a vote counts as


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Sums of votes minus predictions, with their moments. The variance includes that of the prediction."""

    total: Floats
    variance: Floats
    skew: Floats  # third central moment

    @property
    def z(self) -> Floats:
        """Return the sums in standard deviations."""
        return self.total / np.sqrt(self.variance)

    def excess(self, side: int) -> Floats:
        """Return the standard deviations on one side, 1 or -1, as those of a normal distribution of the same tail.

        A vote against a heavy favourite is rare and far out, so that the sum of a few votes is skewed. The
        transformation of Wilson and Hilferty removes the skew if it is on this side.
        """
        z, skew = side * self.z, np.maximum(side * self.skew / self.variance**1.5, 1e-9)
        return (6.0 / skew) * (np.cbrt(np.maximum(1.0 + 0.5 * skew * z, 0.0)) - 1.0) + skew / 6.0


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """The residuals of some judges. A cell is a judge and a system that they compared."""

    judge: Ints
    units: Floats  # weight of the judge's votes
    squares: Floats  # the same, each vote times the square of its prediction
    agreement: Sums  # of votes times predictions: below 0 for votes that do not follow the order
    position: Sums  # above 0 for those who prefer what is shown first
    ties: Sums
    tie_share: Floats  # of the judge's votes
    cell_judge: Ints
    cell_system: Ints
    cell_units: Floats  # weight of the votes in the cell
    favour: Sums
    # The same without what the judge's agreement explains: who answers at random favours the weak systems.
    own_favour: Sums


def residuals(votes: Votes, prediction: VotePrediction, share: Floats, judges: Ints) -> Residuals:
    """Return the residuals of these judges. `share` are the weights with which the prediction was fitted."""
    tied = np.bincount(votes.judge, votes.weight * (votes.outcome == 0), len(votes.judges))
    squares = np.bincount(votes.judge, votes.weight * prediction.expected**2, len(votes.judges))
    table, cells, met, sizes = _sum_residuals(votes, prediction, share, judges)
    return Residuals(
        judge=judges,
        units=votes.units[judges],
        squares=squares[judges].astype(np.float64),
        agreement=_sums(table[:, 0:3]),
        position=_sums(table[:, 3:6]),
        ties=_sums(table[:, 6:9]),
        tie_share=tied[judges] / np.maximum(votes.units[judges], RARE),
        cell_judge=np.repeat(judges, sizes),
        cell_system=met,
        cell_units=cells[:, 6],
        favour=_sums(cells[:, 0:3]),
        own_favour=_sums(cells[:, 3:6]),
    )


def _sums(table: Floats) -> Sums:
    return Sums(total=table[:, 0], variance=np.maximum(table[:, 1], RARE), skew=table[:, 2])


def _sum_residuals(
    votes: Votes, prediction: VotePrediction, share: Floats, judges: Ints
) -> tuple[Floats, Floats, Ints, Ints]:
    """Return the sums of each judge, those of each system that they met, these systems, and how many they are."""
    bounds = np.searchsorted(votes.judge, np.arange(len(votes.judges) + 1))
    begins = np.stack([bounds[judges], bounds[judges + 1]], axis=1).ravel()
    systems = len(votes.systems)
    most = np.minimum(2 * np.diff(begins)[::2], systems)  # that a judge may have met
    widest = int(most.max(initial=0))
    by_judge: Floats = np.empty((len(judges), JUDGE_SUMS))
    cells: Floats = np.empty((int(most.sum()), CELL_SUMS))
    met, ends = np.empty(len(cells), np.int64), np.empty(len(judges), np.int64)
    seen, fair = prediction.seen, prediction.fair
    values = [seen.expected, seen.slope, seen.variance, seen.skew, seen.tie, seen.tie_slope, fair.information]
    count: int = kernels.suited("judges", _UPDATES * len(votes.judge)).sum_residuals(
        begins,
        np.stack([votes.first, votes.second, votes.outcome, prediction.shown]),
        votes.weight,
        np.stack([*values, *fair.gradients]),
        prediction.covariance,
        share[judges],
        by_judge,
        met,
        cells,
        np.empty((widest, 2 * widest + 1)),
        np.empty((VECTORS, widest)),
        np.full(systems, -1, np.int64),
        np.empty((widest, widest)),
        ends,
    )
    return by_judge, cells[:count], met[:count], np.diff(ends, prepend=0)
