"""From a model's scores to a leaderboard that says what is known and what is not."""

from streams.ranking.leaderboard import rows
from streams.ranking.ranges import clusters, rank_ranges

__all__ = ["clusters", "rank_ranges", "rows"]
