"""Rank correlation of two scorings of the same systems."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from streams.core.ranking.ranges import Floats, Ints


def kendall_tau(scores: Floats | Ints, others: Floats | Ints) -> float:
    """Return Kendall's tau-b, or NaN if one of the two does not vary.

    It is (concordant - discordant) pairs, divided by the geometric mean of the pairs that each of the two can order.

    >>> round(kendall_tau(np.array([3.0, 1.0, 2.0]), np.array([3.0, 2.0, 1.0])), 3)
    0.333
    """
    x, y = np.sign(scores[:, None] - scores[None, :]), np.sign(others[:, None] - others[None, :])
    scale = sqrt(float(np.abs(x).sum()) * float(np.abs(y).sum()))
    return float((x * y).sum()) / scale if scale > 0.0 else float("nan")
