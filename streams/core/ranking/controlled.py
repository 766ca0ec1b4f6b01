"""The controlled board: the settled board with features of the outputs, such as their length, regressed out.

On the scale of the noise, a comparison of a and b whose outputs differ by x in the features has the difference
t = theta_a - theta_b + w x, and P(win) = Phi(t - e) as on the settled board. Abilities, coefficients w and the margin e
are fitted together. See Li, Angelopoulos and Chiang (2024), "Does style matter? Disentangling style and substance in
Chatbot Arena", which adds features to a Bradley-Terry model without ties.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from streams.core import kernels
from streams.core.kernels.newton import MARGIN_PRIOR
from streams.core.ranking.differences import Differences
from streams.core.ranking.fit import climb, equal_margin
from streams.core.ranking.grouped_counts import LOSS, TIE, WIN
from streams.core.ranking.jackknife import Jackknife
from streams.core.ranking.settled import (
    FEWEST_JUDGES,
    centre,
    centred_variances,
    prior_precision,
    widest_variances,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.core.ranking.ranges import Floats, Ints
    from streams.core.ranking.settled import SettledBoard

PRIOR = np.array(MARGIN_PRIOR)
AT_ONCE = 50_000  # comparisons whose moments are computed together


@dataclass(frozen=True, kw_only=True)
class StyledComparisons:
    """Every comparison of a log, with what its outputs differ in. Systems are by index, in order of name."""

    first: Ints
    second: Ints
    outcome: Ints  # of the first system: WIN, TIE or LOSS
    features: Floats  # (comparisons, features): of the first output minus the second, see `standardise`
    by_judgment: Ints  # group of each comparison
    by_judge: Ints

    def select(self, features: Ints) -> StyledComparisons:
        """Return the comparisons with some of the features, by index."""
        return replace(self, features=self.features[:, features])


@dataclass(frozen=True, kw_only=True)
class ControlledBoard:
    """The board, and the coefficients of the features in the unit of its scores."""

    board: SettledBoard
    coefficient: Floats
    limit: Floats  # half of the 95 % range, if the same judges were asked again; infinite if nothing can be claimed
    judge_limit: Floats | None  # the same for other judges of this kind; None: not known


def relative_differences(first: Floats, second: Floats) -> Floats:
    """Return (a - b) / (|a| + |b|) of each two values, and 0 if both are 0.

    >>> relative_differences(np.array([300.0, 0.0]), np.array([100.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    total = np.abs(first) + np.abs(second)
    found: Floats = np.divide(first - second, total, out=np.zeros_like(total), where=total > 0.0)
    return found


def standardise(differences: Floats) -> tuple[Floats, Floats]:
    """Return the differences in units of their deviation, and these deviations.

    The deviation is around 0 and not around the mean. So it does not matter which system of a pair is the first.
    """
    deviation = np.sqrt(np.mean(differences * differences, axis=0)) if len(differences) else np.zeros(0)
    return np.divide(differences, deviation, out=np.zeros_like(differences), where=deviation > 0.0), deviation


def control(plain: SettledBoard, log: StyledComparisons, *, deviation: float = 1.0) -> ControlledBoard:
    """Return the board without the effect of the features. `plain` is the board of the same judgments.

    The coefficients have the same weak prior as the abilities. So they stay finite where a feature decides all.
    """
    size, number, beta = len(plain.counts.systems), log.features.shape[1], plain.beta
    c, precision = sqrt(2.0) * beta, prior_precision(beta, deviation)
    fit = _Fit(log, size, precision)
    covariance: Floats = np.linalg.inv(fit.hessian)[:-1, :-1].astype(np.float64, copy=False)
    island, decided = plain.island, plain.by_judgment.decided
    chosen = np.array([np.count_nonzero(log.outcome != TIE)] * number, np.int64)

    def uncertainty(moves: Jackknife) -> tuple[Floats, Differences, Floats]:
        by_group = moves.covariance()
        systems, own = (slice(size), slice(size)), np.maximum(np.diag(covariance), np.diag(by_group))[size:]
        posterior, spread = (np.ascontiguousarray(each[systems]) for each in (covariance, by_group))
        variance = widest_variances(posterior, spread)
        centred = np.maximum(centred_variances(posterior, island), centred_variances(spread, island))
        freedom = moves.groups - 1
        of_features = Differences(variance=np.diag(c * c * own), freedom=freedom, decided=chosen)
        return (
            c * np.sqrt(centred),
            Differences(variance=c * c * variance, freedom=freedom, decided=decided),
            np.diag(of_features.limit()).copy(),
        )

    deviations, by_judgment, limit = uncertainty(fit.leave_out(log.by_judgment))
    knows_judges = plain.counts.judges >= FEWEST_JUDGES
    _, by_judge, judge_limit = uncertainty(fit.leave_out(log.by_judge)) if knows_judges else (None, None, None)
    return ControlledBoard(
        board=replace(
            plain,
            score=c * centre(fit.point[:size], island),
            deviation=deviations,
            margin=c * float(fit.point[-1]),
            by_judgment=by_judgment,
            by_judge=by_judge,
        ),
        coefficient=c * fit.point[size:-1],
        limit=limit,
        judge_limit=judge_limit,
    )


class _Fit:
    """The mode of the posterior of abilities, coefficients and margin, in this order, in units of the noise."""

    def __init__(self, log: StyledComparisons, size: int, precision: float) -> None:
        self._log, self._size, self._precision = log, size, precision
        outcomes = np.bincount(log.outcome, minlength=3).astype(np.float64)[None, :]
        self.point = np.append(np.zeros(size + log.features.shape[1]), equal_margin(outcomes))
        self.gradient, self.hessian = np.empty(len(self.point)), np.empty((len(self.point),) * 2)
        self._moments = np.empty((len(log.first), 5))
        self._evaluate(self.point)
        climb(self._evaluate, self.point, self.gradient, self.hessian)

    def leave_out(self, group: Ints) -> Jackknife:
        """Return by how much the fit moves without each group, see `delete_groups`."""
        moves = []
        for rows in _by_group(group):
            slope, curvature = self._add_up(rows)
            moves.append(np.linalg.solve(self.hessian - curvature, slope)[:-1])
        return Jackknife(moves=np.array(moves).reshape(len(moves), len(self.point) - 1))

    def _evaluate(self, point: Floats) -> None:
        """Fill the moments of all comparisons, and the slope and the curvature of the posterior, at a point."""
        log, size = self._log, self._size
        t = point[log.first] - point[log.second] + log.features @ point[size:-1]
        kernel = kernels.suited("settled", 20 * len(t))
        room = np.empty((min(AT_ONCE, len(t)), 3, 5))
        for begin in range(0, len(t), AT_ONCE):
            part = np.ascontiguousarray(t[begin : begin + AT_ONCE])
            kernel.cell_moments(part, float(point[-1]), room[: len(part)])
            chosen = log.outcome[begin : begin + AT_ONCE]
            self._moments[begin : begin + AT_ONCE] = room[np.arange(len(part)), chosen]
        slope, curvature = self._add_up(slice(None))
        prior = np.empty((1, 3, 5))
        kernel.cell_moments(np.zeros(1), float(point[-1]), prior)
        slope[:-1] -= self._precision * point[:-1]
        slope[-1] += PRIOR @ prior[0, :, 1]
        diagonal = np.append(np.full(len(point) - 1, self._precision), PRIOR @ prior[0, :, 4])
        self.gradient[:] = slope
        self.hessian[:] = curvature + np.diag(diagonal)

    def _add_up(self, rows: Ints | slice) -> tuple[Floats, Floats]:
        """Return the slope and the curvature of some comparisons, without the prior."""
        log, size = self._log, self._size
        first, second, features = log.first[rows], log.second[rows], log.features[rows]
        in_t, in_e, curve, both, own = self._moments[rows].T

        def by_system(values: Floats) -> Any:
            return np.bincount(first, values, size) - np.bincount(second, values, size)

        slope = np.concatenate([by_system(in_t), features.T @ in_t, [in_e.sum()]])
        found = np.zeros((len(slope),) * 2)
        met = np.bincount(first * size + second, curve, size * size).reshape(size, size)
        met += met.T
        found[:size, :size] = np.diag(met.sum(axis=1)) - met
        crossed = np.column_stack([*(by_system(curve * feature) for feature in features.T), by_system(both)])
        found[:size, size:] = crossed
        found[size:, :size] = crossed.T
        found[size:-1, size:-1] = features.T @ (curve[:, None] * features)
        found[size:-1, -1] = found[-1, size:-1] = features.T @ both
        found[-1, -1] = own.sum()
        return slope, found


def _by_group(group: Ints) -> Iterator[Ints]:
    """Yield the comparisons of each group that is not empty."""
    order = np.argsort(group, kind="stable")
    yield from (part for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(part))


def outcomes_of(first_rank: Ints, second_rank: Ints) -> Ints:
    """Return the outcome of the first system of each pair.

    >>> outcomes_of(np.array([1, 1, 2]), np.array([2, 1, 1])).tolist() == [WIN, TIE, LOSS]
    True
    """
    return np.where(first_rank < second_rank, WIN, np.where(first_rank > second_rank, LOSS, TIE))
