"""The fit of the batch graded response model by marginal likelihood; the reference for the online model."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.minimiser import minimise
from streams.core.models.grm import GradedResponseParameters
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints

THRESHOLD_DEVIATION = 2.0  # of b_1 and of b_2 independently, as in the paper


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """Comparisons with one baseline. The outcome is 1 if the baseline was preferred, 2 for a tie, 3 for the system."""

    systems: Ints
    judges: Ints
    segments: Ints
    outcomes: Ints

    def __post_init__(self) -> None:
        if not len(self.systems) == len(self.judges) == len(self.segments) == len(self.outcomes) > 0:
            raise ParameterError(
                "comparisons: pass one system, judge, segment and outcome for each, and at least one comparison"
            )
        if not np.isin(self.outcomes, (1, 2, 3)).all():
            raise ParameterError("comparisons: an outcome is 1 (baseline preferred), 2 (no preference) or 3 (system)")


@dataclass(frozen=True, kw_only=True)
class GradedFit:
    """The fitted values, by index. Those without a comparison are at their prior."""

    theta: Floats
    deviation: Floats
    sensitivities: Floats
    thresholds: Floats  # b_1 and b_2 of each segment
    log_likelihood: float  # marginal and penalised


def fit_graded_response(
    comparisons: Comparisons,
    *,
    priors: GradedResponseParameters | None = None,
    nodes: int = 21,
    rounds: int = 4,
    iterations: int = 60,
) -> GradedFit:
    """Maximise the marginal likelihood of (a, b), with theta integrated out by Gauss-Hermite quadrature; then MAP.

    Otani et al. (2016), section 5. In the first round, the nodes of the quadrature are on the prior of theta, as in the
    paper. If a system has hundreds of comparisons, its likelihood falls between two such nodes. Every further round
    therefore moves the nodes to the system's posterior (Naylor and Smith 1982) and continues from there.

    >>> many = np.arange(60)
    >>> u = np.where(many % 2 == 0, 1 + many % 4, 3)  # 0 mostly loses to the baseline, 1 beats it
    >>> data = Comparisons(systems=many % 2, judges=many % 5, segments=many % 7, outcomes=u)
    >>> bool(fit_graded_response(data).theta[0] < 0 < fit_graded_response(data).theta[1])
    True
    """
    problem = MarginalLikelihood(comparisons, priors or GradedResponseParameters(), nodes=nodes)
    point, value = problem.start(), -np.inf
    for _ in range(rounds):
        found = minimise(problem.loss, point, options={"maxiter": iterations, "maxcor": 20})
        point, value = found.point, -found.loss
        theta, deviation = problem.map_theta(point)
        problem.place_nodes(theta, deviation)
    alpha, middle, delta = problem.split(point)
    half = 0.5 * np.exp(delta)
    return GradedFit(
        theta=theta,
        deviation=deviation,
        sensitivities=np.exp(alpha),
        thresholds=np.stack([middle - half, middle + half], axis=1),
        log_likelihood=value,
    )


class MarginalLikelihood:
    """The penalised log likelihood of (alpha, m, delta) and its gradient, with theta integrated out.

    With w = exp(delta) / 2, a loss is one sigmoid, of -a (theta - m + w), and a win is one of a (theta - m - w). A tie
    is the product of both with opposite signs, times 1 - exp(-2 a w). The log likelihood is a sum over these sigmoids.
    """

    def __init__(self, comparisons: Comparisons, priors: GradedResponseParameters, *, nodes: int) -> None:
        lost, tied, won = (np.flatnonzero(comparisons.outcomes == u) for u in (1, 2, 3))
        rows = np.concatenate([lost, tied, tied, won])
        sizes = (len(lost), len(tied), len(tied), len(won))
        self._system, self._judge, self._segment = (
            index[rows] for index in (comparisons.systems, comparisons.judges, comparisons.segments)
        )
        self._sign = np.repeat([-1.0, 1.0, -1.0, 1.0], sizes)
        self._threshold = np.repeat([1.0, 1.0, -1.0, -1.0], sizes)  # the sign of w
        self._tied_judge, self._tied_segment = comparisons.judges[tied], comparisons.segments[tied]
        self.systems, self.judges, self.segments = (
            int(index.max()) + 1 for index in (self._system, self._judge, self._segment)
        )
        self._priors = priors
        self._points, self._weights = np.polynomial.hermite.hermgauss(nodes)
        self._cells = (self._system[:, None] * nodes + np.arange(nodes)).ravel()
        self.place_nodes(np.zeros(self.systems), np.full(self.systems, priors.deviation))

    def start(self) -> Floats:
        """Return the modes of the prior."""
        alpha = np.full(self.judges, log(self._priors.sensitivity))
        return np.concatenate([alpha, np.zeros(self.segments), np.full(self.segments, log(2.0 * self._priors.margin))])

    def split(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Return alpha, m and delta."""
        alpha, middle, delta = np.split(point, [self.judges, self.judges + self.segments])
        return alpha, middle, delta

    def place_nodes(self, mean: Floats, deviation: Floats) -> None:
        """Move each system's nodes to a normal, with the weights that integrate against the prior of theta."""
        prior = self._priors.deviation
        self._theta = mean[:, None] + sqrt(2.0) * deviation[:, None] * self._points
        self._log_weights = (
            np.log(self._weights)
            + self._points**2
            + np.log(deviation / (prior * sqrt(pi)))[:, None]
            - self._theta**2 / (2.0 * prior**2)
        )

    def loss(self, point: Floats) -> tuple[float, Floats]:
        """Return minus the log likelihood and its gradient."""
        alpha, middle, delta = self.split(point)
        scale, shift = self._lines(alpha, middle, delta)
        x = scale[:, None] * (self._theta[self._system] + shift[:, None])
        logs, slopes = _log_sigmoid(x)
        total = np.bincount(self._cells, logs.ravel(), self._theta.size).reshape(self._theta.shape) + self._log_weights
        peak = total.max(axis=1, keepdims=True)
        mass = np.exp(total - peak)
        norm = mass.sum(axis=1, keepdims=True)
        slopes *= (mass / norm)[self._system]
        by_shift = scale * slopes.sum(axis=1)
        half = 0.5 * np.exp(delta)
        width = 2.0 * np.exp(alpha)[self._tied_judge] * half[self._tied_segment]
        gap = -np.expm1(-width)
        by_width = width * np.exp(-width) / gap
        by_alpha = np.bincount(self._judge, np.einsum("ij,ij->i", slopes, x), self.judges)
        by_alpha += np.bincount(self._tied_judge, by_width, self.judges)
        by_middle = -np.bincount(self._segment, by_shift, self.segments)
        by_delta = half * np.bincount(self._segment, self._threshold * by_shift, self.segments)
        by_delta += np.bincount(self._tied_segment, by_width, self.segments)
        value = float((peak + np.log(norm)).sum() + np.log(gap).sum())
        penalty, slope = self._penalty(alpha, middle, delta)
        return penalty - value, slope - np.concatenate([by_alpha, by_middle, by_delta])

    def map_theta(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the mode of each theta given (alpha, m, delta), by Newton steps, and its deviation."""
        scale, shift = self._lines(*self.split(point))
        theta, precision = np.zeros(self.systems), 1.0 / self._priors.deviation**2
        for _ in range(200):
            slopes = _log_sigmoid(scale * (theta[self._system] + shift))[1]
            gradient = np.bincount(self._system, scale * slopes, self.systems) - precision * theta
            curvature = np.bincount(self._system, scale**2 * slopes * (1.0 - slopes), self.systems) + precision
            step = np.clip(gradient / curvature, -1.0, 1.0)
            theta = theta + step
            if np.abs(step).max() < 1e-10:
                break
        return theta, 1.0 / np.sqrt(curvature)

    def _lines(self, alpha: Floats, middle: Floats, delta: Floats) -> tuple[Floats, Floats]:
        """Return each sigmoid's argument as scale (theta + shift)."""
        scale = self._sign * np.exp(alpha)[self._judge]
        return scale, self._threshold * 0.5 * np.exp(delta)[self._segment] - middle[self._segment]

    def _penalty(self, alpha: Floats, middle: Floats, delta: Floats) -> tuple[float, Floats]:
        """Return minus the log prior of alpha and of the two thresholds, and its gradient."""
        half, priors = 0.5 * np.exp(delta), self._priors
        far = (alpha - log(priors.sensitivity)) / priors.sensitivity_deviation
        below = (middle - half + priors.margin) / THRESHOLD_DEVIATION
        above = (middle + half - priors.margin) / THRESHOLD_DEVIATION
        value = 0.5 * float((far**2).sum() + (below**2).sum() + (above**2).sum())
        by_middle, by_half = (below + above) / THRESHOLD_DEVIATION, (above - below) / THRESHOLD_DEVIATION
        return value, np.concatenate([far / priors.sensitivity_deviation, by_middle, half * by_half])


def _log_sigmoid(x: Floats) -> tuple[Floats, Floats]:
    """Return log sigmoid(x) and its slope, sigmoid(-x)."""
    e = np.exp(-np.abs(x))
    return np.minimum(x, 0.0) - np.log1p(e), np.where(x >= 0.0, e, 1.0) / (1.0 + e)
