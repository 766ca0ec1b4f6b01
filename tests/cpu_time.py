"""Compare the CPU time of one task at two sizes. A time alone would depend on the machine."""

from __future__ import annotations

import time
from collections.abc import Callable

_FEWEST_ROUNDS, _MOST_ROUNDS = 3, 20


def growth(task: Callable[[int], object], small: int, large: int, *, limit: float) -> float:
    """Return how many times longer a task takes with `large` than with `small`.

    The shortest times count. On a busy machine a few rounds may all be disturbed, so there are more of them while the
    result is above the limit.
    """
    shortest = {small: float("inf"), large: float("inf")}
    found = float("inf")
    for done in range(1, _MOST_ROUNDS + 1):
        for size in shortest:
            shortest[size] = min(shortest[size], _seconds(task, size))
        found = shortest[large] / shortest[small]
        if done >= _FEWEST_ROUNDS and found < limit:
            break
    return found


def _seconds(task: Callable[[int], object], size: int) -> float:
    before = time.thread_time()
    task(size)
    return max(time.thread_time() - before, 1e-4)
