"""The numerical minimiser of the methods that fit a posterior mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from streams.core.models.base import Floats

PRECISE = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-12, "gtol": 1e-7}


class Minimum(NamedTuple):
    """The point at which a loss is smallest, and the loss there."""

    point: Floats
    loss: float


def minimise(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, *, options: Mapping[str, float] = PRECISE
) -> Minimum:
    """Minimise a smooth function that returns its value and its gradient, by L-BFGS-B.

    >>> import numpy as np
    >>> minimise(lambda x: (float(((x - 2.0) ** 2).sum()), 2.0 * (x - 2.0)), np.zeros(2)).point.round(6).tolist()
    [2.0, 2.0]
    """
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise ParameterError("this model needs scipy: pip install judgestream[lab]") from None
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=dict(options))
    return Minimum(found.x, float(found.fun))


def gradient_slopes(gradient: Callable[[Floats], Floats], point: Floats, *, step: float = 1e-4) -> Floats:
    """Return the derivatives of a gradient by central differences: the curvature of the loss, symmetric.

    >>> gradient_slopes(lambda x: 2.0 * x, np.zeros(2)).round(6).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    moves = step * np.eye(len(point))
    slopes = np.array([(gradient(point + move) - gradient(point - move)) / (2.0 * step) for move in moves])
    slopes = slopes.reshape(len(point), len(point))
    symmetric: Floats = 0.5 * (slopes + slopes.T)
    return symmetric


def difference_deviations(precision: Floats) -> Floats:
    """Return deviations of scores, from their posterior precision, that suit differences of two scores.

    The common shift of all scores is known from the prior only, and it does not matter for a ranking. So it is removed,
    and what is left is scaled such that the variance of a difference is about the sum of the two variances. For two
    systems, and for any number that met each other equally often, this is exact.

    >>> difference_deviations(np.array([[2.0, -1.0], [-1.0, 2.0]])).round(3).tolist()  # the difference has 2/3
    [0.577, 0.577]
    """
    count = len(precision)
    if count < 2:
        return np.sqrt(np.diag(np.linalg.inv(precision)))
    centre = np.eye(count) - 1.0 / count
    variance: Floats = np.diag(centre @ np.linalg.inv(precision) @ centre) * count / (count - 1)
    return np.sqrt(variance)
