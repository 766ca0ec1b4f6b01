"""The probabilities of win, tie and loss at given differences of ability, and how they change with the difference."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.core.kernels.elementary import exp
from streams.core.kernels.normal import NORM, upper_tail

SIGNATURES = {"predict": "d1 d d2"}


@jit
def predict(gaps: Any, margin: float, found: Any) -> None:
    """Fill `found` with P(win), P(loss), and the densities at the bounds of win and loss, one row per gap.

    Gaps and margin are in units of the noise of a difference. P(win) grows with the first density, and P(loss) falls
    with the second.
    """
    for k in range(len(gaps)):
        low, high = margin - float(gaps[k]), margin + float(gaps[k])
        found[k, 0] = upper_tail(low)
        found[k, 1] = upper_tail(high)
        found[k, 2] = NORM * exp(-0.5 * low * low)
        found[k, 3] = NORM * exp(-0.5 * high * high)
