"""Head-to-head tables of campaigns, as WMT13 published them: ordered by Expected Wins, with rank ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from streams.agreement.head_to_head import HeadToHead
from streams.reports.report import Report

if TYPE_CHECKING:
    from streams.agreement.head_to_head import Correction, Sides
    from streams.core.ranking import PairCounts
    from streams.wire.events import Leaderboard


class HeadToHeadPair(Struct, frozen=True, kw_only=True):
    """The results of one system against a lower ranked one. `win_rate` ignores ties.

    `p` is of the sign test with one or two `sides`, corrected for the number of pairs by `correction`.
    """

    campaign: str
    system: str
    opponent: str
    wins: int
    ties: int
    losses: int
    win_rate: float | None
    p: float
    star: str
    sides: int
    correction: str


@dataclass(frozen=True, kw_only=True)
class CampaignHeadToHead:
    """The leaderboard of a campaign by Expected Wins, and the pairs of systems that met."""

    leaderboard: Leaderboard
    table: HeadToHead
    pairs: tuple[HeadToHeadPair, ...]

    @classmethod
    def of(
        cls, leaderboard: Leaderboard, counts: PairCounts, *, sides: Sides = 1, correction: Correction = "none"
    ) -> CampaignHeadToHead:
        """Test every pair, and order the table as the leaderboard."""
        index = {system: i for i, system in enumerate(counts.systems)}
        order = np.array([index[row.system] for row in leaderboard.rows], np.int64)
        table = HeadToHead.of(counts, sides=sides, correction=correction).ordered(order)
        place = {system: i for i, system in enumerate(table.systems)}
        pairs = tuple(
            HeadToHeadPair(
                campaign=leaderboard.campaign,
                **asdict(pair),
                p=float(table.p[place[pair.system], place[pair.opponent]]),
                star=table.star(place[pair.system], place[pair.opponent]),
                sides=sides,
                correction=correction,
            )
            for pair in Report(leaderboard=leaderboard, counts=counts).pairs()
        )
        return cls(leaderboard=leaderboard, table=table, pairs=pairs)
