"""The numerical minimiser of the methods that fit a posterior mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
