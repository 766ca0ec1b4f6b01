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
    `progress` is called with the number of matches when a run is done.
    """
    comparisons = counts.comparisons
    matches = comparisons + 1 if comparisons else 0
    beta = DEVIATION * comparisons / COMPARISONS_PER_BETA
    margin = TIE * sqrt(2.0) * beta
    systems = len(counts.systems)
    play = kernels.suited("wmt", runs * matches).play_matches

    def run(number: int) -> Floats:
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        wins, ties = counts.wins, counts.ties
        if resample:
            (wins,), (ties,) = counts.resample(1, random)
        mean, variance = np.full(systems, MEAN), np.full(systems, DEVIATION**2)
        state = random.integers(2**32, size=4)
        play(mean, variance, wins, wins + wins.T + ties, matches, beta, margin, state, np.empty((4 + systems, systems)))
        return mean

    means = np.empty((runs, systems))
    pool = ThreadPoolExecutor(threads)
    try:
        for number, mean in enumerate(pool.map(run, range(runs))):
            means[number] = mean
            if progress:
                progress(matches)
    finally:
        pool.shutdown(cancel_futures=True)
    return means
