"""What the votes of all judges predict for each pair: the settled fit, with weights by judge."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.ranking.fit import PairOutcomes, fit_pairs

if TYPE_CHECKING:
    from streams.core.judges.votes import Floats, Ints, Votes

LARGEST_SHARE = 0.02  # of the fit, that one judge may have
PRIOR = 3.0 / (sqrt(2.0) * 1.118)  # deviation of the weak prior of the settled board, in units of the noise
SHIFTS = 20
SMALL = 1e-9
RARE = 1e-12


@dataclass(frozen=True, kw_only=True)
class PredictedOutcomes:
    """Moments of the outcome 1, 0 or -1, at each difference of ability."""

    expected: Floats
    slope: Floats
    variance: Floats
    skew: Floats
    tie: Floats
    tie_slope: Floats
    gradients: Floats  # of the log-likelihood of -1, 0 and 1
    information: Floats

    @classmethod
    def at(cls, gap: Floats, margin: float) -> PredictedOutcomes:
        """Return the moments at these differences, with this tie margin."""
        found = np.empty((len(gap), 4))
        kernels.suited("outcomes", 10 * len(gap)).predict(gap, margin, found)
        win, loss, at_win, at_loss = np.maximum(found, 1e-300).T
        tie, expected = np.maximum(1.0 - win - loss, RARE), win - loss
        return cls(
            expected=expected,
            slope=at_win + at_loss,
            variance=np.maximum(win + loss - expected**2, RARE),
            skew=win * (1.0 - expected) ** 3 - tie * expected**3 - loss * (1.0 + expected) ** 3,
            tie=tie,
            tie_slope=at_loss - at_win,
            gradients=np.stack([-at_loss / loss, (at_loss - at_win) / tie, at_win / win]),
            information=at_win**2 / win + at_loss**2 / loss + (at_loss - at_win) ** 2 / tie,
        )


@dataclass(frozen=True, kw_only=True)
class VotePrediction:
    """The fitted abilities, and what they predict for two systems as they are shown. The unit is the noise of a gap.

    Row k of the votes has the two systems `shown[k]`.
    """

    ability: Floats
    margin: float
    shift: float  # how much better an output seems because it is shown first, to all judges
    covariance: Floats
    shown: Ints
    fair: PredictedOutcomes  # without the shift
    seen: PredictedOutcomes  # with it

    @property
    def expected(self) -> Floats:
        """Return the outcome of each row: P(win) - P(loss)."""
        return self.seen.expected[self.shown]

    @property
    def fairly_expected(self) -> Floats:
        """Return the outcome of each row that would be expected without the shift."""
        return self.fair.expected[self.shown]

    @property
    def tie(self) -> Floats:
        """Return the probability of a tie in each row."""
        return self.seen.tie[self.shown]


class Predictor:
    """Fits abilities and the tie margin to the votes, with a weight for each judge."""

    def __init__(self, votes: Votes) -> None:
        size = max(len(votes.systems), 1)
        low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
        met, self.pair = distinct(low * size + high, size * size)
        self.first, self.second = met // size, met % size
        shown, self.order = distinct(votes.first * size + votes.second, size * size)
        self.shown_first, self.shown_second = shown // size, shown % size
        self.votes, self.size = votes, len(votes.systems)
        self.better = np.where(votes.first < votes.second, 1 - votes.outcome, 1 + votes.outcome)  # place of the outcome

    def fit(self, share: Floats) -> VotePrediction:
        """Return the fit in which the votes of judge j have `share[j]` of their weight."""
        votes, pairs = self.votes, len(self.first)
        weight = votes.weight * share[votes.judge]
        outcomes = np.bincount(3 * self.pair + self.better, weight, 3 * pairs).reshape(pairs, 3).astype(np.float64)
        fitted = fit_pairs(
            PairOutcomes(
                first=self.first, second=self.second, outcomes=outcomes, size=self.size, precision=1.0 / PRIOR**2
            )
        )
        gap = fitted.ability[self.shown_first] - fitted.ability[self.shown_second]
        fair, order = PredictedOutcomes.at(gap, fitted.margin), self.order
        seen, shift = fair, 0.0
        for _ in range(SHIFTS):
            missing = self._typical_shift(weight, seen)
            if abs(missing) < SMALL:
                break
            shift += missing
            seen = PredictedOutcomes.at(gap + shift, fitted.margin)
        return VotePrediction(
            ability=fitted.ability,
            margin=fitted.margin,
            shift=shift,
            covariance=np.linalg.inv(fitted.hessian)[:-1, :-1].astype(np.float64),
            shown=order,
            fair=fair,
            seen=seen,
        )

    def _typical_shift(self, weight: Floats, seen: PredictedOutcomes) -> float:
        """Return what is missing in the shift, for the typical judge: some who always prefer the first do not count."""
        votes, order = self.votes, self.order
        steep, missing = (
            np.bincount(votes.judge, weight * each, len(votes.judges)).astype(np.float64)
            for each in (seen.slope[order], votes.outcome - seen.expected[order])
        )
        judges = steep > 0.0
        return typical_rate(missing[judges], steep[judges]) if judges.any() else 0.0


def median(values: Floats) -> float:
    """Return the median of finite numbers. That of numpy would load numpy.ma.

    >>> median(np.array([3.0, 1.0, 2.0])), median(np.array([4.0, 1.0]))
    (2.0, 2.5)
    """
    half = len(values) // 2
    if len(values) % 2:
        return float(np.partition(values, half)[half])
    ordered = np.partition(values, (half - 1, half))
    return float(ordered[half - 1] + ordered[half]) / 2.0


def typical_rate(total: Floats, weight: Floats) -> float:
    """Return the median of total / weight. Nobody weighs more than the median weight, however many votes they have."""
    rate = total / weight
    order = np.argsort(rate, kind="stable")
    reached = np.cumsum(np.minimum(weight, median(weight))[order])
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


def distinct(numbers: Ints, limit: int) -> tuple[Ints, Ints]:
    """Return the different numbers, all of which are below a limit, in order, and the place of each number among them.

    >>> [part.tolist() for part in distinct(np.array([7, 2, 7]), 8)]
    [[2, 7], [1, 0, 1]]
    """
    if limit > 4 * len(numbers) + 64:
        found, places = np.unique(numbers, return_inverse=True)
        return found, places
    found = np.flatnonzero(np.bincount(numbers, minlength=limit))  # counting is faster than sorting
    place: Ints = np.zeros(limit, np.int64)
    place[found] = np.arange(len(found))
    return found, place[numbers]
