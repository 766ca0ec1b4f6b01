"""What the votes of all judges predict for each pair: the settled fit, with weights by judge."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels

if TYPE_CHECKING:
    from streams.core.judges.votes import Floats, Ints, Votes

LARGEST_SHARE = 0.02  # of the fit, that one judge may have
PRIOR = 3.0 / (sqrt(2.0) * 1.118)  # deviation of the weak prior of the settled board, in units of the noise
STEPS = 60
SMALL = 1e-9
SMALLEST_MARGIN = 1e-3
RARE = 1e-12


@dataclass(frozen=True, kw_only=True)
class VotePrediction:
    """The fitted abilities, and for each row of the votes what they predict. The unit is the noise of a difference."""

    ability: Floats
    margin: float
    shift: float  # how much better an output seems because it is shown first, to all judges
    fair: Floats  # outcome of each row that would be expected without the shift
    covariance: Floats
    expected: Floats  # outcome of each row: P(win) - P(loss)
    slope: Floats  # of `expected`, in the difference of the abilities
    variance: Floats
    skew: Floats  # third central moment
    tie: Floats  # P(tie)
    tie_slope: Floats
    gradient: Floats  # of the log-likelihood of the row's outcome
    information: Floats  # expected, of one comparison


class Predictor:
    """Fits abilities, the tie margin and the bias by position to the votes, with a weight for each judge."""

    def __init__(self, votes: Votes) -> None:
        size = len(votes.systems)
        met, self.pair = np.unique(votes.first * size + votes.second, return_inverse=True)
        self.votes, self.first, self.second = votes, met // max(size, 1), met % max(size, 1)
        self._ability, self._margin, self._shift = np.zeros(size), 0.3, 0.0

    def fit(self, share: Floats) -> VotePrediction:
        """Return the fit in which the votes of judge j have `share[j]` of their weight."""
        votes, size, pairs = self.votes, len(self.votes.systems), len(self.first)
        weight = votes.weight * share[votes.judge]
        won, tied, lost = (np.bincount(self.pair, weight * (votes.outcome == each), pairs) for each in (1, 0, -1))
        met, ties = won + tied + lost, float(tied.sum())
        ability, margin, shift = self._ability, self._margin, self._shift
        hessian = np.eye(size) / PRIOR**2
        found = np.empty((pairs, 4))
        predict = kernels.suited("outcomes", 10 * pairs).predict
        for _ in range(STEPS):
            predict(ability[self.first] - ability[self.second] + shift, margin, found)
            win, loss, at_win, at_loss = np.maximum(found, 1e-300).T
            tie = np.maximum(1.0 - win - loss, RARE)
            slope = won * at_win / win - lost * at_loss / loss + tied * (at_loss - at_win) / tie
            information = at_win**2 / win + at_loss**2 / loss + (at_loss - at_win) ** 2 / tie
            hessian = laplacian(met * information, self.first, self.second, size) + np.eye(size) / PRIOR**2
            step = np.linalg.solve(hessian, sum_by_system(slope, self.first, self.second, size) - ability / PRIOR**2)
            # Half a tie is added, so that a log without ties has a margin above 0.
            wider = (ties + 0.5 - float(met @ tie)) / (float(met @ (at_win + at_loss)) + 1.0)
            higher = self._typical_shift(weight, (win - loss)[self.pair], (at_win + at_loss)[self.pair])
            moved = max(float(np.abs(step).max(initial=0.0)), abs(wider), abs(higher))
            if moved < SMALL:
                break
            damped = min(1.0, 1.0 / moved)
            ability, shift = ability + damped * step, shift + damped * higher
            margin = max(margin + damped * wider, SMALLEST_MARGIN)
        self._ability, self._margin, self._shift = ability, margin, shift
        without = np.empty((pairs, 4))
        predict(ability[self.first] - ability[self.second], margin, without)
        expected = win - loss
        third = win * (1.0 - expected) ** 3 - tie * expected**3 - loss * (1.0 + expected) ** 3
        tie_slope = at_loss - at_win
        gradient = np.stack([-at_loss / loss, tie_slope / tie, at_win / win])  # by outcome + 1
        return VotePrediction(
            ability=ability,
            margin=margin,
            shift=shift,
            fair=(without[:, 0] - without[:, 1])[self.pair],
            covariance=np.linalg.inv(hessian).astype(np.float64),
            expected=expected[self.pair],
            slope=(at_win + at_loss)[self.pair],
            variance=np.maximum(win + loss - expected**2, RARE)[self.pair],
            skew=third[self.pair],
            tie=tie[self.pair],
            tie_slope=tie_slope[self.pair],
            gradient=gradient[votes.outcome + 1, self.pair],
            information=information[self.pair],
        )

    def _typical_shift(self, weight: Floats, expected: Floats, slope: Floats) -> float:
        """Return what is missing in the shift, for the typical judge: some who always prefer the first do not count."""
        judge, count = self.votes.judge, len(self.votes.judges)
        steep, missing = (
            np.bincount(judge, weight * each, count).astype(np.float64)
            for each in (slope, self.votes.outcome - expected)
        )
        judges = steep > 0.0
        return typical_rate(missing[judges], steep[judges]) if judges.any() else 0.0


def typical_rate(total: Floats, weight: Floats) -> float:
    """Return the median of total / weight. Nobody weighs more than the median weight, however many votes they have."""
    rate = total / weight
    order = np.argsort(rate, kind="stable")
    reached = np.cumsum(np.minimum(weight, np.median(weight))[order])
    return float(rate[order[int(np.searchsorted(reached, 0.5 * reached[-1]))]])


def capped_shares(units: Floats, largest: float = LARGEST_SHARE) -> Floats:
    """Return the share of each judge's votes with which no judge has more than `largest` of the whole weight.

    Of few judges, each may have twice an equal part.

    >>> capped_shares(np.array([97.0, 1.0, 1.0, 1.0]), 0.5).round(4).tolist()
    [0.0309, 1.0, 1.0, 1.0]
    """
    present = np.sort(units[units > 0.0])
    largest = max(largest, 2.0 / max(len(present), 1))
    most = float(present[-1]) if len(present) else 0.0
    if most > largest * float(present.sum()):
        for capped in range(1, len(present)):  # so many judges are capped, at the same weight
            most = largest * float(present[:-capped].sum()) / (1.0 - capped * largest)
            if most >= float(present[-capped - 1]):
                break
    share: Floats = np.minimum(1.0, most / np.maximum(units, RARE))
    return share


def sum_by_system(values: Floats, first: Ints, second: Ints, size: int) -> Floats:
    """Return for each system the sum over its pairs: added where it is first, subtracted where it is second."""
    return (np.bincount(first, values, size) - np.bincount(second, values, size)).astype(np.float64)


def laplacian(weights: Floats, first: Ints, second: Ints, size: int) -> Floats:
    """Return the matrix of the sums of weights (x_first - x_second)² as a quadratic form."""
    flat = np.bincount(first * size + second, weights, size * size).reshape(size, size)
    between = flat + flat.T
    found: Floats = np.diag(between.sum(axis=1)) - between
    return found
