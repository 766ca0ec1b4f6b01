"""The settled board: abilities fitted to all pair counts, with ranges for the same judges and for other judges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import log, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from streams.core import kernels
from streams.core.kernels import differences as at
from streams.core.kernels.normal import win_moments
from streams.core.ranking.differences import Differences, rank_systems
from streams.core.ranking.fit import Fit, PairOutcomes, fit_pairs
from streams.core.ranking.islands import find_islands
from streams.core.ranking.jackknife import delete_groups
from streams.core.ranking.judge_weights import weigh_outcomes
from streams.wire.events import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models.judge_outcomes import JudgeOutcomes
    from streams.core.ranking.grouped_counts import GroupedCounts
    from streams.core.ranking.jackknife import Jackknife
    from streams.core.ranking.ranges import Floats, Ints

PRIOR_DEVIATIONS = 3.0  # deviation of the weak prior, in deviations of the online prior
DEFAULT_BETA = 1.118  # noise of the online model, in deviations of its prior
WIDEST = 10.0  # largest deviation that counts, in units of the one that is usual for beta
FEWEST_JUDGES = 5  # below it nothing is said about other judges


@dataclass(frozen=True, kw_only=True)
class SettledBoard:
    """The fit of TrueSkill's model to pair counts. Systems are in the order of the counts."""

    counts: GroupedCounts
    score: Floats  # centred in each island
    deviation: Floats  # of the centred score, if the same judges were asked again
    margin: float  # difference within which judges tie
    beta: float
    island: Ints  # from 1, the largest first; systems that were never compared share the last one
    by_judgment: Differences  # if the same judges were asked again
    by_judge: Differences | None  # for other judges of this kind; None: not known
    pairs: PairOutcomes
    fit: Fit
    covariance: Floats  # of the posterior, in units of the noise; the last row and column are the margin's

    @property
    def elo_per_score(self) -> float:
        """Return the Elo points of one unit of score: 400 per factor of ten in the odds of two close systems."""
        c = sqrt(2.0) * self.beta
        hazard, _ = win_moments(-self.margin / c)
        return 400.0 / log(10.0) * 2.0 * hazard / c

    @cached_property
    def met(self) -> frozenset[int]:
        """The systems that were compared with another one, by index."""
        return frozenset((*self.pairs.first.tolist(), *self.pairs.second.tolist()))

    @cached_property
    def _order(self) -> list[int]:
        """All systems, island by island, in order of score and then of name."""
        island, score, names = self.island.tolist(), self.score.tolist(), self.counts.systems
        return sorted(range(len(names)), key=lambda i: (island[i], -score[i], names[i]))

    def members(self, shown: Sequence[int] | Ints | None = None) -> list[list[int]]:
        """Return the systems of each island, or those `shown`, by index, in order of score and then of name."""
        if shown is None or len(shown) == len(self._order):
            return self._all_members
        chosen = {int(i) for i in shown}
        return self._by_island([i for i in self._order if i in chosen])

    @cached_property
    def _all_members(self) -> list[list[int]]:
        return self._by_island(self._order)

    def _by_island(self, order: list[int]) -> list[list[int]]:
        return [list(part) for _, part in groupby(order, key=self.island.tolist().__getitem__)]

    @cached_property
    def wins_and_losses(self) -> tuple[Floats, Floats]:
        """The comparisons that each system won and lost."""
        return add_wins_and_losses(self.pairs)

    def rows(self, shown: Sequence[int] | Ints | None = None) -> tuple[Row, ...]:
        """Return the rows of all systems, or of those `shown` by index, island by island, in order of score."""
        return tuple(row for order in self.members(shown) for row in self._island_rows(order))

    def _island_rows(self, order: list[int]) -> list[Row]:
        chosen = np.array(order, np.int64)
        own = rank_systems(chosen, self.score, self.by_judgment)
        # What does not hold for the same judges is not claimed for others.
        others = None if self.by_judge is None else rank_systems(chosen, self.score, self.by_judgment, self.by_judge)
        best, worst, numbers = own[: at.CLUSTER + 1].tolist()
        low: list[int] | list[None] = [None] * len(order)
        high: list[int] | list[None] = low
        solid = [1] * len(order)
        if others is not None:
            low, high, solid = others[: at.CLUSTER + 1].tolist()
        columns = (each[chosen].tolist() for each in (self.score, self.deviation, self.counts.judgments, self.island))
        return [
            Row(
                system=self.counts.systems[i],
                rank=k + 1,
                rank_low=best[k],
                rank_high=worst[k],
                cluster=numbers[k],
                score=score,
                deviation=deviation,
                judgments=judgments,
                judge_rank_low=low[k],
                judge_rank_high=high[k],
                line_above=_line(numbers, solid, k),
                island=island,
            )
            for k, (i, score, deviation, judgments, island) in enumerate(zip(order, *columns, strict=True))
        ]


def _line(numbers: list[int], solid: list[int], place: int) -> Literal["judgments", "judges"] | None:
    """Return the line above a row, from the clusters for the same judges and for other judges."""
    if place == 0 or numbers[place] == numbers[place - 1]:
        return None
    return "judges" if solid[place] > solid[place - 1] else "judgments"


def settle(
    counts: GroupedCounts,
    *,
    beta: float = DEFAULT_BETA,
    deviation: float = 1.0,
    answers: JudgeOutcomes | None = None,
) -> SettledBoard:
    """Fit abilities and the tie margin to pair counts, with the prior N(0, (3 deviation)²).

    The prior is weak against the noise, too, and bounds sweeps: where `deviation` is much smaller or larger than usual
    for this beta, the nearest usual one counts.
    With the `answers` of each judge, the counts are weighted by judge.

    >>> from streams.core.ranking.grouped_counts import GroupedCounts
    >>> board = settle(GroupedCounts.of([]))
    >>> board.rows()
    ()
    """
    c, size = sqrt(2.0) * beta, len(counts.systems)
    pairs = PairOutcomes(
        first=counts.first,
        second=counts.second,
        outcomes=counts.totals.astype(np.float64),
        size=size,
        precision=prior_precision(beta, deviation),
    )
    decided = _decided(counts, pairs)
    weight = None if answers is None else weigh_outcomes(answers, pairs)
    if weight is not None:
        pairs = replace(pairs, outcomes=pairs.outcomes * weight)
    fit = fit_pairs(pairs)
    # With weighted moments the counts of the groups are weighted, too.
    by_group = fit if weight is None else replace(fit, moments=fit.moments * weight[:, :, None])
    covariance: Floats = np.linalg.inv(fit.hessian).astype(np.float64, copy=False)
    island = find_islands(counts.first, counts.second, size)
    by_judgment = delete_groups(by_group, pairs, counts.by_judgment, covariance)
    by_judge = delete_groups(by_group, pairs, counts.by_judge, covariance) if counts.judges >= FEWEST_JUDGES else None
    posterior, own = np.ascontiguousarray(covariance[:-1, :-1]), by_judgment.covariance()

    def differences(found: Jackknife, spread: Floats) -> Differences:
        variance = c * c * widest_variances(posterior, spread)
        return Differences(variance=variance, freedom=found.groups - 1, decided=decided)

    centred = np.maximum(centred_variances(posterior, island), centred_variances(own, island))
    return SettledBoard(
        counts=counts,
        score=c * centre(fit.ability, island),
        deviation=c * np.sqrt(centred),
        margin=c * fit.margin,
        beta=beta,
        island=island,
        by_judgment=differences(by_judgment, own),
        by_judge=None if by_judge is None else differences(by_judge, by_judge.covariance()),
        pairs=pairs,
        fit=fit,
        covariance=covariance,
    )


def prior_precision(beta: float, deviation: float) -> float:
    """Return the precision of the prior, in units of the noise."""
    usual = beta / DEFAULT_BETA
    return (sqrt(2.0) * beta / (PRIOR_DEVIATIONS * min(max(deviation, usual), WIDEST * usual))) ** 2


def add_wins_and_losses(pairs: PairOutcomes) -> tuple[Floats, Floats]:
    """Return the comparisons that each system won and lost."""
    found: Floats = np.zeros((4, pairs.size))
    kernels.suited("settled", len(pairs.first)).add_decided(pairs.first, pairs.second, pairs.outcomes, found)
    return found[0] + found[1], found[2] + found[3]


def _decided(counts: GroupedCounts, pairs: PairOutcomes) -> Ints:
    """Return how many judgments of each system prefer it or another one, at most.

    A ranking of many systems is one judgment, however many of its comparisons are decided.
    """
    wins, losses = add_wins_and_losses(pairs)
    return np.minimum((wins + losses).astype(np.int64), counts.judgments)


def widest_variances(one: Floats, other: Floats) -> Floats:
    """Return the variance of the difference of each two systems, the larger one of two covariances."""
    found: Floats = np.empty((len(one), len(one)))
    kernels.suited("settled", one.size).widest_variances(one, other, found)
    return found


def centred_variances(covariance: Floats, island: Ints) -> Floats:
    """Return the variance of each system's difference from the mean of its island."""
    islands = _each_island(island)
    if len(islands) == 1:
        return np.maximum(_centred_variances(covariance), 0.0)
    found: Floats = np.empty(len(covariance))
    for inside in islands:
        found[inside] = _centred_variances(covariance.take(inside, axis=0).take(inside, axis=1))
    return np.maximum(found, 0.0)


def _centred_variances(block: Floats) -> Floats:
    means = np.add.reduce(block, axis=1) / len(block)  # faster than `mean` and its checks
    found: Floats = block.diagonal() - 2.0 * means + np.add.reduce(means) / len(block)
    return found


def centre(values: Floats, island: Ints) -> Floats:
    """Return the values minus the mean of their island."""
    found = values.copy()
    for inside in _each_island(island):
        own = found[inside]
        found[inside] = own - np.add.reduce(own) / len(inside)
    return found


def _each_island(island: Ints) -> list[Ints]:
    """Return the systems of each island, by index."""
    islands = int(island.max(initial=0))
    if islands == 1:
        return [np.arange(len(island))]
    return [np.flatnonzero(island == number) for number in range(1, islands + 1)]
