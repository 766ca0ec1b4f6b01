"""The leaderboard's table: as many digits as its deviations have."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from streams.cli.render import LeaderboardTable
from streams.core.ranking import rows
from streams.wire.events import Leaderboard


@pytest.mark.parametrize(("deviation", "shown"), [(0.05, "+0.60 ± 0.05"), (0.004, "+0.604 ± 0.004")])
def test_small_deviations_get_a_digit_more(deviation: float, shown: str) -> None:
    board = Leaderboard(
        campaign="c",
        model="m",
        sequence=1,
        offset=0,
        judgments=1,
        rows=rows(["a", "b"], np.array([0.604, 0.2]), np.full(2, deviation), [1, 1]),
    )
    console = Console(file=StringIO(), width=80)
    console.print(LeaderboardTable(leaderboard=board, width=80))
    assert isinstance(console.file, StringIO)
    assert shown in console.file.getvalue()
