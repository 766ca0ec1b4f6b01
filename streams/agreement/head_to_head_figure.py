"""A head-to-head table as a figure: the shares as colours and numbers, with the stars of the sign test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.agreement.head_to_head import STARS
from streams.reports.axis import rank_range
from streams.reports.canvas import GREY, canvas, saved
from streams.reports.plots import heat_map
from streams.reports.report import short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.agreement.head_to_head import HeadToHead
    from streams.agreement.head_to_head_rows import CampaignTable
    from streams.wire.events import Row

CELL = 0.42  # inches
ABOUT = "how often the column was preferred to the row"


def image(campaign: CampaignTable, *, suffix: str) -> bytes:
    """Give the figure as a file's content: PNG, SVG or PDF."""
    return saved(figure(campaign), suffix=suffix)


def figure(campaign: CampaignTable) -> Figure:
    """Draw it; it needs the extra `plot`."""
    board = campaign.leaderboard
    with canvas(*size_of(len(board.rows))) as drawn:
        draw(drawn.subplots(), board.campaign, board.rows, campaign.table)
    return drawn


def size_of(systems: int) -> tuple[float, float]:
    """Give the width and the height, in inches, of the table of so many systems."""
    return max(6.0, 3.2 + CELL * systems), max(3.0, 1.6 + 0.75 * CELL * systems)


def draw(axes: Axes, campaign: str, rows: Sequence[Row], table: HeadToHead) -> None:
    """Draw the table of systems in the order of the rows."""
    names, size = short_names(table.systems), len(rows)
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
    axes.set_title(f"{campaign}: {ABOUT}", x=0.0, fontsize=9, parse_math=False)
    stars = ", ".join(f"{star} p ≤ {level:.2f}" for level, star in reversed(STARS))
    axes.set_xlabel(f"{stars} (sign test); beside the names: rank ranges; lines end clusters")
