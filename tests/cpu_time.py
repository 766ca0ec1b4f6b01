"""Compare the CPU time of one task at two sizes. A time alone would depend on the machine."""

from __future__ import annotations

import time
from collections.abc import Callable

_ROUNDS = 3


def growth(task: Callable[[int], object], small: int, large: int) -> float:
    """Return how many times longer a task takes with `large` than with `small`."""
    return _seconds(task, large) / _seconds(task, small)


def _seconds(task: Callable[[int], object], size: int) -> float:
    """Return the shortest CPU time of some rounds."""
    found = []
    for _ in range(_ROUNDS):
        before = time.thread_time()
        task(size)
        found.append(time.thread_time() - before)
    return max(min(found), 1e-4)
