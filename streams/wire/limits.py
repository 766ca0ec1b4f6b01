"""The limits of the wire format: the longest and largest values that an event may carry.

This module imports nothing, because the compiled scanner uses these numbers too.
"""

MAX_NAME = 200  # characters in a name or an id
MAX_SOURCE = 1000  # characters in `source`
MAX_TAGS = 8  # of one judgment
MAX_BOARD_TAGS = 3  # of one campaign, whose values have leaderboards of their own
MAX_RANKED = 100  # systems in one judgment
MAX_RANK = 1_000_000
MAX_DURATION_MS = 2**53
MAX_SYSTEMS = 1000  # systems in one campaign: its pair counts are a square of this side
MAX_DEPTH = 100  # levels of nested JSON
MAX_YEAR = 9000  # times from this year on are refused: a sum of times could overflow
MAX_SCORE = 1e9  # of a direct assessment, also below zero
MIN_SCORE_RANGE = 1e-6  # from the lowest to the highest score of a campaign
