"""Islands: the parts of a board whose systems are connected by comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels

if TYPE_CHECKING:
    from streams.core.ranking.ranges import Ints


def find_islands(first: Ints, second: Ints, size: int) -> Ints:
    """Return the number of each system's island. The largest is 1; of equal ones, the one with the first system.

    Systems that were never compared share the last island.

    >>> find_islands(np.array([0, 1]), np.array([2, 3]), 5).tolist()
    [1, 2, 1, 2, 3]
    """
    part: Ints = np.empty(size, np.int64)
    if kernels.suited("settled", len(first)).join_islands(first, second, part):
        return np.ones(size, np.int64)  # as usual, all are connected
    names, where, sizes = np.unique(part, return_inverse=True, return_counts=True)
    order = sorted(range(len(names)), key=lambda k: (names[k] == size, -sizes[k], names[k]))
    numbers = np.empty(len(names), np.int64)
    numbers[order] = np.arange(1, len(names) + 1)
    found: Ints = numbers[where]
    return found
