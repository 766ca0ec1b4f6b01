"""Delete-a-group jackknife: how far the fit of a settled board moves when one group of judgments is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels

if TYPE_CHECKING:
    from streams.core.ranking.fit import Fit, PairOutcomes
    from streams.core.ranking.ranges import Floats, Ints

MOST_SYSTEMS = 100  # up to it each group is solved directly, above it by conjugate gradients
MOST_STEPS = 200
CLOSE = 1e-16  # of the squared error, relative to the first one


@dataclass(frozen=True, kw_only=True)
class Jackknife:
    """The moves of the abilities, one row per group that is not empty, in units of the noise."""

    moves: Floats

    @property
    def groups(self) -> int:
        """Return the number of groups that are not empty."""
        return len(self.moves)

    def covariance(self) -> Floats:
        """Return the covariance of the abilities: (m - 1) / m times the sum over the m groups."""
        if self.groups < 2:
            return np.zeros((self.moves.shape[1], self.moves.shape[1]))
        centred = self.moves - np.add.reduce(self.moves, axis=0) / self.groups
        found: Floats = (self.groups - 1) / self.groups * (centred.T @ centred)
        return found


def delete_groups(fit: Fit, pairs: PairOutcomes, groups: Ints, inverse: Floats) -> Jackknife:
    """Return (H - H_g)^-1 s_g for each group: the step by which the fit moves to the one without it, reversed.

    H is the curvature of all, and s_g and H_g are the slope and the curvature of group g at the fit. `groups` has the
    outcomes of each pair in each group. `inverse` is H^-1.
    """
    if pairs.size <= MOST_SYSTEMS:
        return Jackknife(moves=_solve_directly(fit, pairs, groups)[:, :-1])
    filled = np.any(np.any(groups, axis=0), axis=1)
    kept = np.ascontiguousarray(groups if filled.all() else groups[:, filled], np.int64)
    return Jackknife(moves=_solve_by_gradients(fit, pairs, kept, inverse)[:, :-1])


def _slopes(fit: Fit, pairs: PairOutcomes, groups: Ints) -> Floats:
    """Return the slope of each group's log-likelihood at the fit, one column per group."""
    found = np.zeros((pairs.size + 1, groups.shape[1]))
    kernels.suited("jackknife", groups.size).group_slopes(groups, fit.moments, pairs.first, pairs.second, found)
    return found


def _solve_directly(fit: Fit, pairs: PairOutcomes, groups: Ints) -> Floats:
    size, number = len(fit.hessian), groups.shape[1]
    found: Floats = np.empty((number, size))
    kernel = kernels.suited("jackknife", number * size**3)
    counts = np.ascontiguousarray(groups, np.int64)
    filled = kernel.delete_each(
        counts, fit.moments, pairs.first, pairs.second, fit.hessian, np.empty_like(fit.hessian), found
    )
    return found[:filled]


def _solve_by_gradients(fit: Fit, pairs: PairOutcomes, groups: Ints, inverse: Floats) -> Floats:
    """Solve all groups at once by conjugate gradients with H^-1 as preconditioner.

    A step costs one product with H^-1 for all groups. The product of H with a direction needs none: a direction is
    H^-1 r plus a multiple of the one before.
    """
    kernel = kernels.suited("jackknife", groups.size)
    residual = _slopes(fit, pairs, groups)
    found, product = np.zeros_like(residual), np.empty_like(residual)
    direction = np.ascontiguousarray(inverse @ residual)
    by_all = residual.copy()  # H times the direction
    error = (residual * direction).sum(axis=0)
    enough = CLOSE * error
    for _ in range(MOST_STEPS):
        kernel.group_products(groups, fit.moments, pairs.first, pairs.second, direction, product)
        product = by_all - product
        length = _quotient(error, (direction * product).sum(axis=0))
        found += length * direction
        residual -= length * product
        if (error <= enough).all():
            break
        nearer = inverse @ residual
        last, error = error, (residual * nearer).sum(axis=0)
        again = _quotient(error, last)
        direction = np.ascontiguousarray(nearer + again * direction)
        by_all = residual + again * by_all
    return found.T


def _quotient(above: Floats, below: Floats) -> Floats:
    """Divide. A group that has been solved exactly has nothing left, and its quotient is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0.0)
