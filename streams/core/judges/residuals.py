"""The residuals of each judge: their votes minus what the other judges predict, in standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.judges.prediction import RARE, laplacian, sum_by_system

if TYPE_CHECKING:
    from streams.core.judges.prediction import VotePrediction
    from streams.core.judges.votes import Floats, Ints, Votes


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
    bounds = np.searchsorted(votes.judge, np.arange(len(votes.judges) + 1))
    by_judge, cells, systems, units = [], [], [], []
    for j in judges.tolist():
        rows = slice(int(bounds[j]), int(bounds[j + 1]))
        own, each, met, weight = _of_judge(votes, prediction, float(share[j]), rows)
        by_judge.append(own)
        cells.append(each)
        systems.append(met)
        units.append(weight)
    table = np.array(by_judge).reshape(len(by_judge), 3, 3)
    wide = np.concatenate([np.empty((0, 2, 3)), *cells])
    return Residuals(
        judge=judges,
        units=votes.units()[judges],
        squares=squares[judges].astype(np.float64),
        agreement=_sums(table[:, 0]),
        position=_sums(table[:, 1]),
        ties=_sums(table[:, 2]),
        tie_share=tied[judges] / np.maximum(votes.units()[judges], RARE),
        cell_judge=np.repeat(judges, [len(met) for met in systems]),
        cell_system=np.concatenate([np.empty(0, np.int64), *systems]),
        cell_units=np.concatenate([np.empty(0), *units]),
        favour=_sums(wide[:, 0]),
        own_favour=_sums(wide[:, 1]),
    )


def _sums(table: Floats) -> Sums:
    return Sums(total=table[:, 0], variance=np.maximum(table[:, 1], RARE), skew=table[:, 2])


def _of_judge(
    votes: Votes, prediction: VotePrediction, share: float, rows: slice
) -> tuple[Floats, Floats, Ints, Floats]:
    """Return the sums (total, variance, third moment) of one judge: of agreement, position, ties; and by system.

    The judge's own votes are taken out of the fit by one Newton step: with the covariance C of the systems that they
    met, the information H and the gradient s of their votes, the abilities change by (I - C H)^-1 C s.
    """
    met, both = np.unique(np.concatenate([votes.first[rows], votes.second[rows]]), return_inverse=True)
    first, second = np.split(both, 2)
    size = len(met)
    weight = votes.count[rows] * (2.0 / votes.size[rows])
    covariance = prediction.covariance[np.ix_(met, met)]
    own = laplacian(share * weight * prediction.information[rows], first, second, size)
    pull = sum_by_system(share * weight * prediction.gradient[rows], first, second, size)
    without = np.linalg.solve(np.eye(size) - covariance @ own, np.column_stack([covariance, covariance @ pull]))
    covariance, shift = without[:, :size], without[:, size]
    moved = shift[first] - shift[second]

    slope = prediction.slope[rows]
    expected = np.clip(prediction.expected[rows] - slope * moved, -1.0, 1.0)
    residual = weight * (votes.outcome[rows] - expected)
    variance, skew = weight * prediction.variance[rows], weight * prediction.skew[rows]
    tie = prediction.tie[rows]
    tied = weight * ((votes.outcome[rows] == 0) - tie + prediction.tie_slope[rows] * moved)

    def doubt(change: Floats) -> float:
        """Return the variance that comes from the prediction, for a sum that changes so with each difference."""
        by_system = sum_by_system(weight * change, first, second, size)
        return float(by_system @ covariance @ by_system)

    agreement = float(residual @ expected), float(variance @ expected**2), float(skew @ expected**3)
    judge = np.array(
        [
            (agreement[0], agreement[1] + doubt(slope * expected), agreement[2]),
            (residual.sum(), variance.sum() + doubt(slope), skew.sum()),
            (
                tied.sum(),
                float(weight @ (tie * (1.0 - tie))) + doubt(prediction.tie_slope[rows]),
                float(weight @ (tie * (1.0 - tie) * (1.0 - 2.0 * tie))),
            ),
        ]
    )

    steep = laplacian(weight * slope, first, second, size)
    doubts = np.einsum("ij,jk,ik->i", steep, covariance, steep)
    total = sum_by_system(residual, first, second, size)
    spread = np.bincount(first, variance, size) + np.bincount(second, variance, size)
    third = sum_by_system(skew, first, second, size)
    shared = sum_by_system(variance * expected, first, second, size) / max(agreement[1], RARE)
    left = np.maximum(spread - shared**2 * agreement[1], 0.1 * spread)
    plain = np.stack([total, spread + doubts, third], axis=1)
    partial = np.stack([total - shared * agreement[0], left + doubts, third], axis=1)
    units = (np.bincount(first, weight, size) + np.bincount(second, weight, size)).astype(np.float64)
    return judge, np.stack([plain, partial], axis=1), met, units
