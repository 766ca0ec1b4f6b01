"""Three outcomes from one normal distribution: the difference of two systems, split at a decision radius."""

from __future__ import annotations

from math import erfc, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from streams.core.models.base import Floats

TINY = 1e-200  # replaces a variance of 0, for which every difference outside the radius is certain

_upper_tail = np.vectorize(lambda x: 0.5 * erfc(x / sqrt(2.0)), otypes=[np.float64])


def split_at_radius(gap: Floats, variance: Floats | float, radius: float) -> Floats:
    """Return P(win), P(tie), P(loss): N(gap, variance) above, within and below the radius, on a new last axis.

    Sakaguchi, Post and Van Durme (2014), section 3.2.

    >>> split_at_radius(np.array([0.0, 1.0]), 1.0, 0.5).round(3).tolist()
    [[0.309, 0.383, 0.309], [0.691, 0.242, 0.067]]
    """
    deviation = np.sqrt(np.maximum(variance, TINY))
    win, loss = _upper_tail((radius - gap) / deviation), _upper_tail((radius + gap) / deviation)
    return np.stack([win, np.maximum(0.0, 1.0 - win - loss), loss], axis=-1)


def score_gaps(scores: Floats) -> Floats:
    """Return the score of the row's system minus that of the column's.

    >>> score_gaps(np.array([3.0, 1.0])).tolist()
    [[0.0, 2.0], [-2.0, 0.0]]
    """
    return scores[..., :, None] - scores[..., None, :]
