"""From a model's scores, or from the outcomes of pairs, to a leaderboard that says what is known and what is not."""

from streams.core.methods.pair_scores import SCORES
from streams.core.ranking.counts import PairCounts
from streams.core.ranking.engines import ENGINES, Ratings, stand
from streams.core.ranking.leaderboard import Standing, rows, widened
from streams.core.ranking.ranges import clusters, rank_ranges, sampled_ranges

__all__ = [
    "ENGINES",
    "SCORES",
    "PairCounts",
    "Ratings",
    "Standing",
    "clusters",
    "rank_ranges",
    "rows",
    "sampled_ranges",
    "stand",
    "widened",
]
