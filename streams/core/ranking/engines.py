"""The engines of rank ranges behind one call: from a model's posterior, or from pair counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streams.core.methods.pair_scores import SCORES
from streams.core.methods.wmt import wmt_runs
from streams.core.ranking.counts import PairCounts
from streams.core.ranking.leaderboard import RankedScores
from streams.core.ranking.ranges import sampled_ranges
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.ranking.ranges import Floats

# What each engine ranks from.
ENGINES = {"closed": "ratings", "posterior": "ratings", "bootstrap": "pair counts", "wmt": "pair counts"}
# Numbers in the tables that a bootstrap holds at a time: memory stays bounded with a thousand systems.
BLOCK = 4_000_000


class PosteriorScores(NamedTuple):
    """A model's posterior: each system's mean and deviation."""

    mean: Floats
    deviation: Floats


def rank_scores(
    engine: str,
    evidence: PosteriorScores | PairCounts,
    *,
    score: str = "expected-wins",
    runs: int = 1000,
    seed: int = 1,
    resample: bool = True,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> RankedScores:
    """Rank by an engine: `closed` or `posterior` from ratings, `bootstrap` of a `score` or `wmt` from pair counts.

    >>> rank_scores("posterior", PosteriorScores(np.array([0.0, 9.0]), np.array([1.0, 1.0]))).best.tolist()
    [2, 1]
    """
    if engine not in ENGINES:
        raise ParameterError(f"no ranges {engine!r}; {suggestion(engine, ENGINES)}")
    if isinstance(evidence, PosteriorScores) and engine == "closed":
        return RankedScores.closed(*evidence)
    if isinstance(evidence, PosteriorScores) and engine == "posterior":
        return posterior(evidence, runs=runs, random=np.random.default_rng(seed))
    if isinstance(evidence, PairCounts) and engine == "bootstrap":
        return bootstrap(evidence, score=score, runs=runs, random=np.random.default_rng(seed))
    if isinstance(evidence, PairCounts) and engine == "wmt":
        return RankedScores.sampled(
            wmt_runs(evidence, runs=runs, seed=seed, resample=resample, threads=threads, progress=progress)
        )
    raise ParameterError(f"ranges {engine!r} come from {ENGINES[engine]}, and these are none")


def posterior(ratings: PosteriorScores, *, runs: int, random: np.random.Generator) -> RankedScores:
    """Draw every system's score from its posterior, independently, and rank the draws; the score is the mean."""
    draws = ratings.mean + ratings.deviation * random.standard_normal((runs, len(ratings.mean)))
    best, worst = sampled_ranges(draws)
    return RankedScores(score=ratings.mean, deviation=ratings.deviation, best=best, worst=worst)


def bootstrap(counts: PairCounts, *, score: str, runs: int, random: np.random.Generator) -> RankedScores:
    """Score the comparisons as they are, and rank resamples of them with replacement (Efron 1979)."""
    if score not in SCORES:
        raise ParameterError(f"no score {score!r} of pair counts; {suggestion(score, SCORES)}")
    block = max(1, BLOCK // max(1, counts.wins.size))
    samples = [SCORES[score](*counts.resample(min(block, runs - first), random)) for first in range(0, runs, block)]
    return RankedScores.sampled(np.concatenate(samples), score=SCORES[score](counts.wins, counts.ties))
