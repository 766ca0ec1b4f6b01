"""Rank ranges and clusters: which places a system may hold, and where the list can be ruled off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

# Two-sided 95 %.
Z_95 = 1.959963984540054


def rank_ranges(mean: Floats, deviation: Floats) -> tuple[Ints, Ints]:
    """Give each system's best and worst place: it passes only those that it does not differ from at 95 %.

    >>> rank_ranges(np.array([3.0, 0.1, 0.0]), np.array([0.5, 0.5, 0.5]))
    (array([1, 2, 2]), array([1, 3, 3]))
    """
    gap = mean[:, None] - mean[None, :]
    sure = gap > Z_95 * np.hypot(deviation[:, None], deviation[None, :])
    best = 1 + sure.sum(axis=0)
    worst = len(mean) - sure.sum(axis=1)
    return best, worst


def clusters(best: Ints, worst: Ints) -> Ints:
    """Number the clusters of systems in leaderboard order.

    A cluster ends after a system where the worst rank so far is better than every later system's best.

    >>> clusters(np.array([1, 2, 2]), np.array([1, 3, 3]))
    array([1, 2, 2])
    """
    numbers = np.ones(len(best), dtype=np.int64)
    for k in range(1, len(best)):
        numbers[k] = numbers[k - 1] + int(worst[:k].max() < best[k:].min())
    return numbers
