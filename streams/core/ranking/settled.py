"""The settled board: abilities fitted to all pair counts, with the covariances from which its ranges come."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from streams.core.kernels.normal import tie_moments, win_moments
from streams.core.ranking.ranges import clusters
from streams.wire.events import Row

if TYPE_CHECKING:
    from streams.core.ranking.grouped_counts import GroupedCounts
    from streams.core.ranking.ranges import Floats, Ints

PRIOR_DEVIATIONS = 3.0  # deviation of the weak prior, in deviations of the online prior
FEWEST_JUDGES = 5  # below it nothing is said about other judges
STEPS = 50
SMALL = 1e-10


@dataclass(frozen=True, kw_only=True)
class SettledBoard:
    """The fit of TrueSkill's model to pair counts. Systems are in the order of the counts."""

    counts: GroupedCounts
    score: Floats  # centred in each island
    margin: float  # difference within which judges tie
    beta: float
    island: Ints  # from 1, the largest first; systems that were never compared share the last one
    by_judgment: Floats  # covariance of the scores, if the same judges were asked again
    by_judge: Floats | None  # the same for other judges of this kind; None: not known
    judgment_quantile: float  # t quantile of a two-sided range at 95 %
    judge_quantile: float

    @property
    def elo_per_score(self) -> float:
        """Return the Elo points of one unit of score: 400 per factor of ten in the odds of two close systems."""
        c = sqrt(2.0) * self.beta
        hazard, _ = win_moments(-self.margin / c)
        return 400.0 / log(10.0) * 2.0 * hazard / c

    def rows(self, shown: Ints | None = None) -> tuple[Row, ...]:
        """Return the rows of all systems, or of those `shown` by index, island by island, in order of score."""
        rows: list[Row] = []
        chosen = np.arange(len(self.score)) if shown is None else shown
        for island in np.unique(self.island[chosen]).tolist():
            rows += self._island_rows([int(i) for i in chosen if self.island[i] == island], number=island)
        return tuple(rows)

    def _island_rows(self, members: list[int], *, number: int) -> list[Row]:
        names = self.counts.systems
        order = sorted(members, key=lambda i: (-self.score[i], names[i]))
        score = self.score[order]
        best, worst = _ranges(score, self.by_judgment[np.ix_(order, order)], self.judgment_quantile)
        numbers = clusters(best, worst)
        others: Ints | None = None
        if self.by_judge is not None:
            low, high = _ranges(score, self.by_judge[np.ix_(order, order)], self.judge_quantile)
            others = clusters(low, high)
        rows = []
        for k, i in enumerate(order):
            line = k > 0 and numbers[k] > numbers[k - 1]
            solid = line and others is not None and others[k] > others[k - 1]
            rows.append(
                Row(
                    system=names[i],
                    rank=k + 1,
                    rank_low=int(best[k]),
                    rank_high=int(worst[k]),
                    cluster=int(numbers[k]),
                    score=float(score[k]),
                    deviation=sqrt(float(self.by_judgment[i, i])),
                    judgments=int(self.counts.judgments[i]),
                    judge_rank_low=int(low[k]) if others is not None else None,
                    judge_rank_high=int(high[k]) if others is not None else None,
                    line_above=("judges" if solid else "judgments") if line else None,
                    island=number,
                )
            )
        return rows


def settle(counts: GroupedCounts, *, beta: float = 1.118, deviation: float = 1.0) -> SettledBoard:
    """Fit abilities and the tie margin to pair counts, with the prior N(0, (3 deviation)²).

    >>> from streams.core.ranking.grouped_counts import GroupedCounts
    >>> board = settle(GroupedCounts.of([]))
    >>> board.rows()
    ()
    """
    size, c = len(counts.systems), sqrt(2.0) * beta
    prior = 1.0 / (PRIOR_DEVIATIONS * deviation) ** 2
    totals = counts.totals
    theta, margin = np.zeros(size), _margin_of(totals) * c
    first, second = counts.first, counts.second
    moments: Floats = np.zeros((len(first), 3, 2))
    hessian: Floats = np.zeros((size, size))
    for _ in range(STEPS):
        moments = _moments((theta[first] - theta[second]) / c, margin / c)
        slope = (totals * moments[:, :, 0]).sum(axis=1) / c
        curvature = (totals * moments[:, :, 1]).sum(axis=1) / c**2
        gradient = _sum_by_system(slope, first, second, size) - prior * theta
        hessian = _laplacian(curvature, first, second, size) + prior * np.eye(size)
        step = np.linalg.solve(hessian, gradient)
        theta = theta + step
        if float(np.abs(step).max(initial=0.0)) < SMALL:
            break
    island = _islands(counts)
    covariance = np.linalg.inv(hessian).astype(np.float64)
    by_judgment, judgment_groups = _jackknife(counts.by_judgment, moments, first, second, hessian, c)
    by_judge, judge_groups = _jackknife(counts.by_judge, moments, first, second, hessian, c)
    for number in np.unique(island).tolist():
        theta[island == number] -= theta[island == number].mean()
    return SettledBoard(
        counts=counts,
        score=theta,
        margin=margin,
        beta=beta,
        island=island,
        by_judgment=_larger(covariance, by_judgment),
        by_judge=_larger(covariance, by_judge) if counts.judges >= FEWEST_JUDGES else None,
        judgment_quantile=_quantile(judgment_groups - 1),
        judge_quantile=_quantile(judge_groups - 1),
    )


def _margin_of(totals: Ints) -> float:
    """Return the margin, in units of the noise, at which equal systems tie as often as was seen."""
    seen = int(totals.sum())
    share = (int(totals[:, 1].sum()) + 0.5) / (seen + 1.0)
    return NormalDist().inv_cdf(0.5 + 0.5 * min(share, 0.98))


def _moments(t: Floats, e: float) -> Floats:
    """Return slope and curvature of each outcome's log-likelihood, by pair: (pairs, 3, 2)."""
    found = np.empty((len(t), 3, 2))
    for k, x in enumerate(t.tolist()):
        won, tied, lost = win_moments(x - e), tie_moments(abs(x), e), win_moments(-x - e)
        sign = 1.0 if x >= 0.0 else -1.0
        found[k] = won, (sign * tied[0], tied[1]), (-lost[0], lost[1])
    return found


def _sum_by_system(values: Floats, first: Ints, second: Ints, size: int) -> Floats:
    return (np.bincount(first, values, size) - np.bincount(second, values, size)).astype(np.float64)


def _laplacian(weights: Floats, first: Ints, second: Ints, size: int) -> Floats:
    found = np.zeros((size, size))
    found[first, second] = found[second, first] = -weights
    np.fill_diagonal(found, -found.sum(axis=1))
    return found


def _jackknife(
    groups: Ints, moments: Floats, first: Ints, second: Ints, hessian: Floats, c: float
) -> tuple[Floats, int]:
    """Return the delete-a-group covariance and the number of groups that are not empty."""
    size = len(hessian)
    filled = [g for g in range(groups.shape[1]) if groups[:, g].any()]
    moved = np.zeros((len(filled), size))
    for k, g in enumerate(filled):
        slope = (groups[:, g] * moments[:, :, 0]).sum(axis=1) / c
        curvature = (groups[:, g] * moments[:, :, 1]).sum(axis=1) / c**2
        rest = hessian - _laplacian(curvature, first, second, size)
        moved[k] = np.linalg.solve(rest, _sum_by_system(slope, first, second, size))
    if len(filled) < 2:
        return np.zeros((size, size)), len(filled)
    moved -= moved.mean(axis=0)
    return (len(filled) - 1) / len(filled) * moved.T @ moved, len(filled)


def _larger(posterior: Floats, groups: Floats) -> Floats:
    """Return the larger of two variances of each difference, as a covariance."""
    return np.where(np.diag(posterior).sum() > np.diag(groups).sum(), posterior, groups)


def _ranges(score: Floats, covariance: Floats, quantile: float) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each system. Systems that do not differ at 95 % share ranks."""
    variance = np.diag(covariance)
    spread = variance[:, None] + variance[None, :] - 2.0 * covariance
    sure = score[:, None] - score[None, :] > quantile * np.sqrt(np.maximum(spread, 0.0))
    np.fill_diagonal(sure, val=False)
    return 1 + sure.sum(axis=0), len(score) - sure.sum(axis=1)


def _quantile(freedom: int) -> float:
    """Return the t quantile of a two-sided range at 95 %, roughly; infinite without a degree of freedom."""
    if freedom < 1:
        return float("inf")
    return 1.96 * (1.0 + 2.4 / freedom + 3.1 / freedom**2)


def _islands(counts: GroupedCounts) -> Ints:
    """Return the number of each system's connected part. The largest is 1, and systems without a match are last."""
    size = len(counts.systems)
    part = np.arange(size)
    for a, b in zip(counts.first.tolist(), counts.second.tolist(), strict=True):
        if part[a] != part[b]:
            part[part == max(part[a], part[b])] = min(part[a], part[b])
    compared = np.zeros(size, np.bool_)
    compared[counts.first] = compared[counts.second] = True
    part[~compared] = size
    sizes = {int(each): int((part == each).sum()) for each in np.unique(part)}
    order = sorted(sizes, key=lambda each: (each == size, -sizes[each], each))
    numbers = {each: number for number, each in enumerate(order, start=1)}
    return np.array([numbers[int(each)] for each in part], np.int64)
