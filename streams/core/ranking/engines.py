"""The engines of rank ranges: from a model's posterior or from pair counts. Those of `groups` are in `settled`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streams.core.methods.win_shares import ExpectedWins
from streams.core.methods.wmt import wmt_runs
from streams.core.ranking.counts import PairCounts
from streams.core.ranking.leaderboard import RankedScores
from streams.core.ranking.ranges import sampled_ranges
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.methods import CountMethod, Method
    from streams.core.methods.rankings import Rankings
    from streams.core.ranking.ranges import Floats

# The input of each engine.
GROUPS = "groups"
ENGINES = {
    GROUPS: "pair counts in groups",
    "closed": "ratings",
    "posterior": "ratings",
    "bootstrap": "pair counts",
    "wmt": "pair counts",
}
# Numbers that a bootstrap holds in memory at a time, so that a thousand systems fit.
BLOCK = 4_000_000
STEPS = 20  # a bootstrap reports its progress at least so often


class PosteriorScores(NamedTuple):
    """The posterior of a model: the mean and the deviation of each system."""

    mean: Floats
    deviation: Floats


def rank_scores(
    engine: str,
    evidence: PosteriorScores | PairCounts,
    *,
    method: CountMethod | None = None,
    runs: int = 1000,
    seed: int = 1,
    resample: bool = True,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> RankedScores:
    """Rank by an engine: `closed` or `posterior` from a posterior, `bootstrap` or `wmt` from pair counts.

    A bootstrap scores the counts by `method`, by default by Expected Wins.

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
        return rank_bootstrap(
            evidence,
            method=method or ExpectedWins(),
            runs=runs,
            random=np.random.default_rng(seed),
            progress=progress,
        )
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


def rank_bootstrap(
    counts: PairCounts,
    *,
    method: CountMethod,
    runs: int,
    random: np.random.Generator,
    progress: Callable[[int], None] | None = None,
) -> RankedScores:
    """Score the comparisons, and take the ranges from resamples of them with replacement (Efron 1979)."""
    block = max(1, min(BLOCK // max(1, counts.wins.size), -(-runs // STEPS)))
    samples = []
    for first in range(0, runs, block):
        tables = counts.resample(min(block, runs - first), random)
        samples.append(method.reseeded(first).score_tables(*tables))
        if progress:
            progress(len(samples[-1]))
    return RankedScores.sampled(np.concatenate(samples), score=method.score(counts.wins, counts.ties))


def rank_rankings(
    method: Method,
    rankings: Rankings,
    *,
    engine: str,
    runs: int,
    seed: int = 1,
    progress: Callable[[int], None] | None = None,
) -> RankedScores:
    """Rank by a method that needs the whole log.

    A bootstrap draws as many rankings, with replacement, and fits the method to each sample. The rankings of a sample
    keep the order of the log, because for some methods the order matters.
    """
    fitted = method.fit(rankings.pairs)
    if fitted.scores is None:
        raise ParameterError(f"the model {method.name!r} predicts outcomes but has no scores to rank by")
    if engine == "bootstrap":
        random, samples = np.random.default_rng(seed), np.empty((runs, len(fitted.scores)))
        for run in range(runs):
            rows = np.sort(random.integers(len(rankings), size=len(rankings))) if len(rankings) else np.arange(0)
            samples[run] = method.fit(rankings.select(rows).pairs).scores
            if progress:
                progress(1)
        return RankedScores.sampled(samples, score=fitted.scores)
    if fitted.deviations is None:
        raise ParameterError(f"the model {method.name!r} has no ranges {engine!r}, because it has no deviations")
    return rank_scores(engine, PosteriorScores(fitted.scores, fitted.deviations), runs=runs, seed=seed)
