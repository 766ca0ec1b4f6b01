"""From a model's scores, or from the outcomes of pairs, to a leaderboard that says what is known and what is not."""

from streams.core.methods.pair_scores import SCORES
from streams.core.ranking.counts import PairCounts
from streams.core.ranking.engines import ENGINES, PosteriorScores, rank_scores
from streams.core.ranking.leaderboard import RankedScores, rows, widened
from streams.core.ranking.ranges import clusters, rank_ranges, sampled_ranges

__all__ = [
    "ENGINES",
    "SCORES",
    "PairCounts",
    "PosteriorScores",
    "RankedScores",
    "clusters",
    "rank_ranges",
    "rank_scores",
    "rows",
    "sampled_ranges",
    "widened",
]
