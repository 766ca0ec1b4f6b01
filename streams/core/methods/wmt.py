"""The official WMT ranking: many runs of TrueSkill, each on its own matches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.ranking.counts import PairCounts
    from streams.core.ranking.ranges import Floats

MEAN, DEVIATION = 0.0, 0.5
TIE = 0.31863936396437514  # Phi^-1((p + 1) / 2), with p = 0.25 the probability of a draw
# beta is the prior's deviation * comparisons / this: so large that the order of the matches hardly matters.
COMPARISONS_PER_BETA = 40
RUNS_AT_ONCE = 4  # by one thread, which plays their matches in turns


def wmt_runs(
    counts: PairCounts,
    *,
    runs: int,
    seed: int,
    resample: bool = True,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Floats:
    """Return the means of each run, one row per run.

    A run resamples the comparisons with replacement (as in WMT16, not in WMT15). Then it plays one match more than
    there are comparisons: the system of largest variance meets another one with probability ∝ exp(-|mu_1 - mu_2|), and
    a randomly drawn outcome of the pair updates both (Sakaguchi, Post and Van Durme 2014).

    The randomness of a run depends only on the seed and its number, so the number of threads changes nothing.
    `progress` is called with the number of matches when some runs are done.
    """
    comparisons = counts.comparisons
    matches = comparisons + 1 if comparisons else 0
    beta = DEVIATION * comparisons / COMPARISONS_PER_BETA
    margin = TIE * sqrt(2.0) * beta
    systems = len(counts.systems)
    play = kernels.suited("wmt", runs * matches).play_matches

    def play_runs(numbers: range) -> Floats:
        wins, ties = (np.empty((len(numbers), systems, systems), np.int64) for _ in range(2))
        state = np.empty((len(numbers), 4), np.int64)
        for k, number in enumerate(numbers):
            random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
            wins[k], ties[k] = counts.wins, counts.ties
            if resample:
                (wins[k],), (ties[k],) = counts.resample(1, random)
            state[k] = random.integers(2**32, size=4)
        mean, variance = np.full((len(numbers), systems), MEAN), np.full((len(numbers), systems), DEVIATION**2)
        meetings = wins + wins.transpose(0, 2, 1) + ties
        known, opponents = np.empty(mean.shape), np.empty((*mean.shape, systems + 1), np.int64)
        play(mean, variance, wins, meetings, matches, beta, margin, state, known, opponents)
        return mean

    means = np.empty((runs, systems))
    pool = ThreadPoolExecutor(threads)
    try:
        parts = [range(runs)[first : first + RUNS_AT_ONCE] for first in range(0, runs, RUNS_AT_ONCE)]
        for numbers, found in zip(parts, pool.map(play_runs, parts), strict=True):
            means[numbers.start : numbers.stop] = found
            if progress:
                progress(matches * len(numbers))
    finally:
        pool.shutdown(cancel_futures=True)
    return means
