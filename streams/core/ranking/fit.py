"""The fit of a settled board: abilities and the tie margin that explain all pair counts best."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.kernels import newton as at

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.ranking.ranges import Floats, Ints

ENOUGH = 1e-11  # of the Newton decrement, where a fit is only compared: the step from there is nearly exact
_NORMAL = NormalDist()
MOST_SYSTEMS = 60  # up to it the search is compiled, above it LAPACK solves its equations


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The mode of the posterior, in units of the noise sqrt(2) beta. The margin is the last parameter."""

    parameters: Floats  # abilities and margin
    moments: Floats  # (pairs, outcomes, 5): slopes and curvatures, see kernels/settled.py
    hessian: Floats  # negative second derivatives; the last row and column are the margin's

    @property
    def ability(self) -> Floats:
        """The ability of each system."""
        return self.parameters[:-1]

    @property
    def margin(self) -> float:
        """The difference within which judges tie."""
        return float(self.parameters[-1])


@dataclass(frozen=True, kw_only=True)
class PairOutcomes:
    """The outcomes of each pair that met: wins of the first system, ties, wins of the second one."""

    first: Ints
    second: Ints
    outcomes: Floats  # (pairs, 3)
    size: int  # number of systems
    precision: float  # of the prior of an ability, in units of the noise


def fit_pairs(pairs: PairOutcomes, *, start: Fit | None = None) -> Fit:
    """Return the mode of the likelihood of the outcomes and of the prior N(0, 1 / precision).

    The logarithm of the posterior is concave, and the search is Newton's, from zero or from a fit of similar outcomes.
    From such a fit, the moments and the curvature are those of a point next to the mode.
    """
    size = pairs.size + 1
    kernel = kernels.suited("newton", len(pairs.first) * at.MOST_STEPS)
    prior, gradient, hessian = np.empty((3, 5)), np.empty(size), np.empty((size, size))
    if start is None:
        point: Floats = np.zeros(size)
        point[-1] = equal_margin(pairs.outcomes)
        moments = np.empty((len(pairs.first), 3, 5))
    else:
        point, moments = start.parameters.copy(), start.moments.copy()  # they depend on the point alone
    state = pairs.first, pairs.second, pairs.outcomes, pairs.precision, point, moments, prior, gradient, hessian
    if pairs.size <= MOST_SYSTEMS:
        room, enough = (np.empty_like(hessian), np.empty((2, size))), 0.0 if start is None else ENOUGH
        kernel.climb(*state, *room, start is not None, enough)
    else:
        (kernel.evaluate if start is None else kernel.add_up)(*state)
        before, after = state[:4], state[5:]
        climb(lambda trial: kernel.evaluate(*before, trial, *after), point, gradient, hessian)
    return Fit(parameters=point, moments=moments, hessian=hessian)


def climb(evaluate: Callable[[Floats], None], point: Floats, gradient: Floats, hessian: Floats) -> None:
    """Move a point to the mode, as the kernel's `climb` does, with LAPACK. The margin is its last entry.

    `evaluate` fills the gradient and the curvature at a point. Both must be those of the first point already.
    """
    last = np.inf
    for _ in range(at.MOST_STEPS):
        step = np.linalg.solve(hessian, gradient)
        slope = float(gradient @ step)
        if slope < at.SETTLED or (slope < at.ROUNDED and slope > 0.25 * last):
            return
        last = slope
        if step[-1] < 0.0:
            step *= min(1.0, (1.0 - at.SHORTEST) * float(point[-1]) / -float(step[-1]))
        reached = float(gradient @ step)
        for _ in range(at.MOST_HALVINGS):
            trial = point + step
            evaluate(trial)
            if float(gradient @ step) >= -at.SLACK * reached:
                break
            step, reached = 0.5 * step, 0.5 * reached
        point[:] = trial


def equal_margin(outcomes: Floats) -> float:
    """Return the margin at which equal systems tie as often as was seen."""
    share = (float(outcomes[:, 1].sum()) + at.MARGIN_PRIOR[1]) / (float(outcomes.sum()) + sum(at.MARGIN_PRIOR))
    return _NORMAL.inv_cdf(0.5 + 0.5 * share)
