"""Compare a leaderboard with the official result of a competition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.ranking import kendall_tau

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.crowd.competition import OfficialResult
    from streams.wire.events import Row


def order_tau(order: Sequence[str], official: Sequence[str]) -> float:
    """Return Kendall's tau of two orders of the same systems: 1 if they are equal, -1 if one is the reverse.

    >>> order_tau(["a", "c", "b"], ["a", "b", "c"])
    0.3333333333333333
    """
    place = {system: number for number, system in enumerate(order)}
    return kendall_tau(np.array([place[system] for system in official]), np.arange(len(official)))


def overlaps(rows: Iterable[Row], official: Iterable[OfficialResult]) -> int:
    """Return the number of systems whose rank range overlaps the official range."""
    ranges = {row.system: (row.rank_low, row.rank_high) for row in rows}
    return sum(
        ranges[known.system][0] <= known.rank_high and known.rank_low <= ranges[known.system][1] for known in official
    )
