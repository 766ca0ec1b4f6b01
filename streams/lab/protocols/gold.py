"""Gold scores to compare models with: the official procedure on the whole log."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.methods.win_shares import ExpectedWins
from streams.core.methods.wmt import wmt_runs
from streams.core.ranking import PairCounts

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.methods.rankings import Rankings
    from streams.core.models.base import Floats, Ints

RUNS = 20  # enough for a stable mean; the official procedure has 1,000 for the rank ranges
SEED = 2014


@lru_cache(maxsize=32)
def official_scores(rankings: Rankings) -> Floats:
    """Return the mean of TrueSkill's means over resampled runs on all pairs (Otani et al. 2016, 6.1, after WMT14)."""
    kernels.compiled("wmt")
    scores: Floats = wmt_runs(pair_counts(rankings.pairs), runs=RUNS, seed=SEED).mean(axis=0)
    return scores


def official_order(rankings: Rankings) -> Ints:
    """Return the systems from best to worst by Expected Wins."""
    return np.argsort(-ExpectedWins().score(*rankings.pairs.counts()), kind="stable")


def pair_counts(pairs: Pairs) -> PairCounts:
    """Return the outcomes as pair counts."""
    wins, ties = pairs.counts()
    return PairCounts(systems=pairs.systems, wins=wins, ties=ties, judgments=(wins + wins.T + ties).sum(axis=1))
