"""Head-to-head tables of campaigns: each in the order of its Expected Wins, with rank ranges, as WMT13 printed them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from streams.agreement.head_to_head import HeadToHead

if TYPE_CHECKING:
    from streams.agreement.head_to_head import Sides
    from streams.core.ranking import PairCounts
    from streams.wire.events import Leaderboard


class HeadToHeadPair(Struct, frozen=True, kw_only=True):
    """How one system fared against another that stands lower; `win_rate` ignores ties, `p` is of the sign test."""

    campaign: str
    system: str
    opponent: str
    wins: int
    ties: int
    losses: int
    win_rate: float | None
    p: float
    star: str


@dataclass(frozen=True, kw_only=True)
class CampaignHeadToHead:
    """A campaign's leaderboard by Expected Wins, and each two of its systems that met."""

    leaderboard: Leaderboard
    table: HeadToHead
    pairs: tuple[HeadToHeadPair, ...]

    @classmethod
    def of(cls, leaderboard: Leaderboard, counts: PairCounts, *, sides: Sides = 1) -> CampaignHeadToHead:
        """Order the table as the leaderboard is, and test every pair."""
        index = {system: i for i, system in enumerate(counts.systems)}
        order = np.array([index[row.system] for row in leaderboard.rows], np.int64)
        table = HeadToHead.of(counts, sides=sides).ordered(order)
        wins, ties = (part[np.ix_(order, order)] for part in (counts.wins, counts.ties))
        pairs = [
            HeadToHeadPair(
                campaign=leaderboard.campaign,
                system=table.systems[i],
                opponent=table.systems[j],
                wins=int(wins[i, j]),
                ties=int(ties[i, j]),
                losses=int(wins[j, i]),
                win_rate=float(wins[i, j] / (wins[i, j] + wins[j, i])) if wins[i, j] + wins[j, i] else None,
                p=float(table.p[i, j]),
                star=table.star(int(i), int(j)),
            )
            for i, j in zip(*np.triu_indices(len(order), 1), strict=True)
            if wins[i, j] + ties[i, j] + wins[j, i]
        ]
        return cls(leaderboard=leaderboard, table=table, pairs=tuple(pairs))
