"""Rank ranges and clusters: which ranks a system may have, and where the leaderboard splits."""

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
FEWEST_RUNS = 3  # one is left after the best and the worst are dropped


def rank_ranges(mean: Floats, deviation: Floats) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each system. Ranks are shared with systems that do not differ at 95 %.

    >>> rank_ranges(np.array([3.0, 0.1, 0.0]), np.array([0.5, 0.5, 0.5]))
    (array([1, 2, 2]), array([1, 3, 3]))
    """
    gap = mean[:, None] - mean[None, :]
    variance = deviation * deviation
    sure = gap > Z_95 * np.sqrt(variance[:, None] + variance[None, :])
    best = 1 + sure.sum(axis=0)
    worst = len(mean) - sure.sum(axis=1)
    return best, worst


def sampled_ranges(samples: Floats) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each system over runs of scores, one row per run.

    ceil(2.5 %) of the runs are dropped at each end. Systems with equal scores in a run have all ranks that they share.

    >>> best, worst = sampled_ranges(np.array([[2.0, 1.0, 0.0]] * 39 + [[0.0, 1.0, 2.0]]))
    >>> best.tolist(), worst.tolist()
    ([1, 2, 3], [1, 2, 3])
    """
    runs, systems = samples.shape
    if runs < FEWEST_RUNS:
        raise ParameterError(f"{runs} runs are too few for a rank range; use {FEWEST_RUNS} or more (WMT uses 1000)")
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
    """Return the cluster number of each system, in leaderboard order.

    A cluster ends after a system if the worst rank so far is better than the best rank of every later system.

    >>> clusters(np.array([1, 2, 2]), np.array([1, 3, 3]))
    array([1, 2, 2])
    """
    above, below = np.maximum.accumulate(worst)[:-1], np.minimum.accumulate(best[::-1])[::-1][1:]
    numbers = np.ones(len(best), dtype=np.int64)
    numbers[1:] += np.cumsum(above < below)
    return numbers
