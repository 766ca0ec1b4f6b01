"""Rank ranges and clusters: which places a system may hold, and where the list can be ruled off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

# Two-sided 95 %.
Z_95 = 1.959963984540054
FEWEST_RUNS = 3  # of which one is left when the best and the worst are dropped


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


def sampled_ranges(samples: Floats) -> tuple[Ints, Ints]:
    """Give each system's best and worst rank in runs of scores, a run a row, without ceil(2.5 %) of them at each end.

    Systems with the same score in a run hold all the ranks that they share: no order is made up between them.

    >>> best, worst = sampled_ranges(np.array([[2.0, 1.0, 0.0]] * 39 + [[0.0, 1.0, 2.0]]))
    >>> best.tolist(), worst.tolist()
    ([1, 2, 3], [1, 2, 3])
    """
    runs, systems = samples.shape
    if runs < FEWEST_RUNS:
        raise ParameterError(f"{runs} runs leave no rank range; take {FEWEST_RUNS} or more, 1000 as WMT does")
    order = np.argsort(-samples, axis=1)
    ordered = np.take_along_axis(samples, order, axis=1)
    differs = ordered[:, 1:] != ordered[:, :-1]
    best, worst = np.tile(np.array([[[1]], [[systems]]]), (1, runs, systems))
    places = np.arange(2, systems + 1)
    best[:, 1:] = np.maximum.accumulate(np.where(differs, places, 1), axis=1)
    worst[:, -2::-1] = np.minimum.accumulate(np.where(differs, places - 1, systems)[:, ::-1], axis=1)
    for ranks in (best, worst):
        np.put_along_axis(ranks, order, ranks.copy(), axis=1)
    dropped = -(-runs // 40)
    return np.sort(best, axis=0)[dropped], np.sort(worst, axis=0)[-1 - dropped]


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
