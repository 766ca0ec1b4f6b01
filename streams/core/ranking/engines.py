"""The engines of rank ranges, behind one function: from a model's posterior or from pair counts."""

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

# The input of each engine.
ENGINES = {"closed": "ratings", "posterior": "ratings", "bootstrap": "pair counts", "wmt": "pair counts"}
# Numbers that a bootstrap holds in memory at a time, so that a thousand systems fit.
BLOCK = 4_000_000


class PosteriorScores(NamedTuple):
    """The posterior of a model: the mean and the deviation of each system."""

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
    """Rank by an engine: `closed` or `posterior` from a posterior, `bootstrap` of a `score` or `wmt` from pair counts.

    >>> rank_scores("posterior", PosteriorScores(np.array([0.0, 9.0]), np.array([1.0, 1.0]))).best.tolist()
    [2, 1]
    """
    if engine not in ENGINES:
        raise ParameterError(f"no ranges {engine!r}; {suggestion(engine, ENGINES)}")
    if isinstance(evidence, PosteriorScores) and engine == "closed":
        return RankedScores.closed(*evidence)
    if isinstance(evidence, PosteriorScores) and engine == "posterior":
        return rank_posterior(evidence, runs=runs, random=np.random.default_rng(seed))
    if isinstance(evidence, PairCounts) and engine == "bootstrap":
        return rank_bootstrap(evidence, score=score, runs=runs, random=np.random.default_rng(seed))
    if isinstance(evidence, PairCounts) and engine == "wmt":
        return RankedScores.sampled(
            wmt_runs(evidence, runs=runs, seed=seed, resample=resample, threads=threads, progress=progress)
        )
    raise ParameterError(f"ranges {engine!r} are computed from {ENGINES[engine]}, not from this input")


def rank_posterior(scores: PosteriorScores, *, runs: int, random: np.random.Generator) -> RankedScores:
    """Draw every score from its posterior, independently, and rank the draws. The score is the mean."""
    draws = scores.mean + scores.deviation * random.standard_normal((runs, len(scores.mean)))
    best, worst = sampled_ranges(draws)
    return RankedScores(score=scores.mean, deviation=scores.deviation, best=best, worst=worst)


def rank_bootstrap(counts: PairCounts, *, score: str, runs: int, random: np.random.Generator) -> RankedScores:
    """Score the comparisons, and take the ranges from resamples of them with replacement (Efron 1979)."""
    if score not in SCORES:
        raise ParameterError(f"no score {score!r} of pair counts; {suggestion(score, SCORES)}")
    block = max(1, BLOCK // max(1, counts.wins.size))
    samples = [SCORES[score](*counts.resample(min(block, runs - first), random)) for first in range(0, runs, block)]
    return RankedScores.sampled(np.concatenate(samples), score=SCORES[score](counts.wins, counts.ties))
