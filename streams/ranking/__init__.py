"""From a model's scores, or from the outcomes of pairs, to a leaderboard that says what is known and what is not."""

from streams.ranking.counts import PairCounts
from streams.ranking.engines import ENGINES, Ratings, stand
from streams.ranking.leaderboard import Standing, rows, widened
from streams.ranking.ranges import clusters, rank_ranges, sampled_ranges
from streams.ranking.scores import SCORES

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
