"""The fit of a settled board: abilities and the tie margin that explain all pair counts best."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels

if TYPE_CHECKING:
    from streams.core.ranking.ranges import Floats, Ints

MOST_STEPS = 60
MOST_HALVINGS = 30
SLACK = 0.5  # a step is too long if the slope at its end is below -SLACK times the one at its beginning
SHORTEST = 0.125  # part of the margin that one step leaves at least, because a margin is above 0
SETTLED = 1e-18  # of the Newton decrement, which is 1 for a change of one standard deviation
RIDGE = 1e-13  # by which the diagonal is larger, so that rounding does not make it singular after 10^12 judgments
# The prior of the margin is one comparison of two equal systems, half a tie.
MARGIN_PRIOR = np.array([0.25, 0.5, 0.25])


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The mode of the posterior, in units of the noise sqrt(2) beta. The margin is the last parameter."""

    ability: Floats
    margin: float
    moments: Floats  # (pairs, outcomes, 5): slopes and curvatures, see kernels/settled.py
    hessian: Floats  # negative second derivatives; the last row and column are the margin's

    @property
    def parameters(self) -> Floats:
        """Return abilities and margin as one vector."""
        return np.append(self.ability, self.margin)


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
    """
    point = np.append(np.zeros(pairs.size), _equal_margin(pairs.outcomes)) if start is None else start.parameters
    fit, gradient = _evaluate(pairs, point)
    last = np.inf
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(fit.hessian, gradient)
        slope = float(gradient @ step)
        if slope < SETTLED or (slope < 1e-8 and slope > 0.25 * last):  # the second: rounding is all that is left
            break
        last = slope
        if step[-1] < 0.0:
            step *= min(1.0, (1.0 - SHORTEST) * fit.margin / -step[-1])
        reached = float(gradient @ step)
        for _ in range(MOST_HALVINGS):
            fit, gradient = _evaluate(pairs, point + step)
            if float(gradient @ step) >= -SLACK * reached:
                break
            step, reached = 0.5 * step, 0.5 * reached
        point = point + step
    return fit


def _evaluate(pairs: PairOutcomes, point: Floats) -> tuple[Fit, Floats]:
    """Return the state of the search at a point, and the gradient of the log-posterior there."""
    size, margin = pairs.size, float(point[-1])
    kernel = kernels.suited("settled", len(pairs.first) * MOST_STEPS)
    moments, prior = np.empty((len(pairs.first), 3, 5)), np.empty((3, 5))
    gradient, hessian = np.zeros(size + 1), np.zeros((size + 1, size + 1))
    kernel.evaluate(pairs.first, pairs.second, pairs.outcomes, point, moments, gradient, hessian)
    kernels.plain("settled").pair_moments(0.0, margin, prior)
    gradient[:-1] -= pairs.precision * point[:-1]
    gradient[-1] += MARGIN_PRIOR @ prior[:, 1]
    hessian[np.arange(size), np.arange(size)] += pairs.precision
    hessian[-1, -1] += MARGIN_PRIOR @ prior[:, 4]
    hessian[np.arange(size + 1), np.arange(size + 1)] *= 1.0 + RIDGE
    return Fit(ability=point[:-1], margin=margin, moments=moments, hessian=hessian), gradient


def _equal_margin(outcomes: Floats) -> float:
    """Return the margin at which equal systems tie as often as was seen."""
    share = (float(outcomes[:, 1].sum()) + float(MARGIN_PRIOR[1])) / (float(outcomes.sum()) + float(MARGIN_PRIOR.sum()))
    return NormalDist().inv_cdf(0.5 + 0.5 * share)
