"""From scores or pair counts to a leaderboard with rank ranges and clusters."""

from streams.core.ranking.correlation import kendall_tau
from streams.core.ranking.counts import PairCounts
from streams.core.ranking.engines import ENGINES, GROUPS, PosteriorScores, rank_rankings, rank_scores
from streams.core.ranking.leaderboard import RankedScores, add_judge_ranges, rows, widen_ranges
from streams.core.ranking.ranges import clusters, rank_ranges, sampled_ranges

__all__ = [
    "ENGINES",
    "GROUPS",
    "PairCounts",
    "PosteriorScores",
    "RankedScores",
    "add_judge_ranges",
    "clusters",
    "kendall_tau",
    "rank_ranges",
    "rank_rankings",
    "rank_scores",
    "rows",
    "sampled_ranges",
    "widen_ranges",
]
