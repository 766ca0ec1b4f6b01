"""Fragility: how many judgments would have to be taken away before another system leads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.ranking.fit import fit_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.ranking.fit import Fit, PairOutcomes
    from streams.core.ranking.ranges import Floats, Ints
    from streams.core.ranking.settled import SettledBoard

CHALLENGERS = 3  # systems behind the leader, in units of the uncertainty, that are tried
STRIDE = 0.75  # part of the estimate that is taken away before the next fit
MOST_FITS = 60
MOST_SYSTEMS = 300  # above it the estimate is not confirmed by fits
LEVEL = 1e-9  # a gap below it is none


def fragility(board: SettledBoard, shown: Sequence[int] | Ints | None = None) -> int | None:
    """Return how many judgments would have to be taken away before the leader does not lead alone any more.

    Only pair counts are known, so each comparison counts as one judgment. Taken away are those that hold the gap
    between the leader and a challenger up most, by their influence H^-1 s; a new fit confirms it. It is an upper bound:
    another choice may need fewer. Return None if there are fewer than two systems, or islands with a leader each.

    >>> from streams.core.ranking.grouped_counts import GroupedCounts
    >>> from streams.core.ranking.settled import settle
    >>> fragility(settle(GroupedCounts.of([]))) is None
    True
    """
    parts = [order for order in board.members(shown) if order[0] in board.met]
    if len(parts) != 1 or len(parts[0]) < 2:
        return None
    leader, others = parts[0][0], np.array(parts[0][1:], np.int64)
    pairs, fit, removed = board.pairs, board.fit, 0
    gaps = board.score[leader] - board.score[others]
    if float(gaps.min()) <= LEVEL:
        return 0
    distance = gaps / np.sqrt(board.by_judgment.variance[leader, others])
    near = others[np.argsort(distance, kind="stable")[:CHALLENGERS]]
    weights = board.covariance[leader] - board.covariance[near]  # one row per challenger
    most: int | None = None
    for _ in range(MOST_FITS):
        number, cells = _estimate(pairs, fit, weights, fit.ability[leader] - fit.ability[near])
        if number == 0 or pairs.size > MOST_SYSTEMS:
            return removed + number
        take = 1 if number == 1 else max(1, int(STRIDE * number))
        take = take if most is None else min(take, most)
        fewer = _without(pairs, cells, take)
        later = fit_pairs(fewer, start=fit)
        if later.ability[leader] - later.ability[others].max() > LEVEL:
            pairs, fit, removed = fewer, later, removed + take
            weights = _effects(fit, leader, near)
            continue
        if take == 1:
            return removed + 1
        most = take // 2
    return removed


def _estimate(pairs: PairOutcomes, fit: Fit, weights: Floats, gaps: Floats) -> tuple[int, Ints]:
    """Return how many comparisons hold the weakest of some gaps up, and their outcomes in order of influence.

    A row of `weights` is the effect of each ability's slope, and of the margin's, on a gap.
    """
    size = pairs.outcomes.size
    cells, found = np.empty((len(gaps), size), np.int64), np.empty(2 * len(gaps), np.int64)
    best = kernels.suited("supports", size * MOST_FITS).find_weakest(
        pairs.first,
        pairs.second,
        pairs.outcomes,
        fit.moments,
        weights,
        gaps,
        np.empty(size),
        np.empty(size, np.int64),
        cells,
        found,
    )
    return int(found[2 * best + 1]), cells[best, : found[2 * best]]


def _effects(fit: Fit, leader: int, near: Ints) -> Floats:
    """Return the effect of each ability's slope, and of the margin's, on the leader's gap to some systems."""
    apart = np.zeros((len(near), len(fit.hessian)))
    apart[:, leader], apart[np.arange(len(near)), near] = 1.0, -1.0
    return np.ascontiguousarray(np.linalg.solve(fit.hessian, apart.T).T, np.float64)


def _without(pairs: PairOutcomes, cells: Ints, number: int) -> PairOutcomes:
    """Take comparisons away, in the order of the outcomes."""
    outcomes = pairs.outcomes.copy()
    kernels.suited("supports", outcomes.size * MOST_FITS).take_away(outcomes, cells, number)
    return replace(pairs, outcomes=outcomes)
