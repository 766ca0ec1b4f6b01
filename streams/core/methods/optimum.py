"""The maximiser that the batch models share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.models.base import Floats


def minimum(loss: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    """Give the point where a smooth loss, told with its gradient, is least.

    >>> import numpy as np
    >>> minimum(lambda x: (float(((x - 2.0) ** 2).sum()), 2.0 * (x - 2.0)), np.zeros(2)).round(6).tolist()
    [2.0, 2.0]
    """
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise ParameterError("this model needs scipy: pip install judgestream[lab]") from None
    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-12, "gtol": 1e-7}
    found: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return found
