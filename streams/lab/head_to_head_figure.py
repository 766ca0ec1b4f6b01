"""A head-to-head table as a figure: the shares as colours and numbers, with the stars of the sign test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.lab.head_to_head import STARS
from streams.reports.axis import rank_range
from streams.reports.canvas import GREY, canvas, saved
from streams.reports.plots import heat_map
from streams.reports.report import short_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from streams.lab.head_to_head_rows import CampaignTable

CELL = 0.42  # inches
ABOUT = "how often the column's system was preferred to the row's, ties ignored"


def image(campaign: CampaignTable, *, suffix: str) -> bytes:
    """Give the figure as a file's content: PNG, SVG or PDF."""
    return saved(figure(campaign), suffix=suffix)


def figure(campaign: CampaignTable) -> Figure:
    """Draw it; it needs the extra `plot`."""
    rows, table = campaign.leaderboard.rows, campaign.table
    names = short_names(table.systems)
    size = len(rows)
    with canvas(max(6.0, 3.2 + CELL * size), max(3.0, 1.6 + 0.75 * CELL * size)) as drawn:
        axes = drawn.subplots()
        heat_map(axes, table.shares, [[table.cell(i, j) for j in range(size)] for i in range(size)])
        axes.set_yticks(
            range(size),
            [f"{names[row.system]}   {rank_range(row.rank_low, row.rank_high)}" for row in rows],
            parse_math=False,
        )
        for place in range(1, size):
            if rows[place].cluster != rows[place - 1].cluster:
                axes.axhline(place - 0.5, color=GREY, linewidth=0.8)
                axes.axvline(place - 0.5, color=GREY, linewidth=0.8)
        axes.xaxis.tick_top()
        drawn.suptitle(f"{campaign.leaderboard.campaign}: {ABOUT}", x=0.01, ha="left", fontsize=10, parse_math=False)
        stars = ", ".join(f"{star} p ≤ {level:.2f}" for level, star in reversed(STARS))
        axes.set_xlabel(f"{stars} (sign test); beside the names: rank ranges; lines end clusters")
    return drawn
