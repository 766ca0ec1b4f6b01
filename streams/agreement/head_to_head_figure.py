"""Draw a head-to-head table as a figure: shares as colours and numbers, with the stars of the sign test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.agreement.head_to_head import STARS
from streams.reports.canvas import GREY, canvas
from streams.reports.plots import draw_heat_map
from streams.reports.report import shorten_names
from streams.reports.score_axis import rank_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.agreement.head_to_head import HeadToHead
    from streams.agreement.head_to_head_rows import CampaignHeadToHead
    from streams.wire.events import Row

CELL, SMALL_CELL = 0.42, 0.2  # inches
MOST_NUMBERS = 30  # systems; the cells of a larger table have colours only
LONGEST_NAME = 48
ABOUT = "how often the row was preferred to the column, ties ignored"


def head_to_head_figure(campaign: CampaignHeadToHead) -> Figure:
    """Draw the table of a campaign. This needs the extra `plot`."""
    board = campaign.leaderboard
    with canvas(*size_of(len(board.rows))) as drawn:
        draw_head_to_head(drawn.subplots(), board.campaign, board.rows, campaign.table)
    return drawn


def size_of(systems: int) -> tuple[float, float]:
    """Return the width and the height in inches of a table of this number of systems."""
    if systems > MOST_NUMBERS:
        return 4.5 + SMALL_CELL * systems, 2.0 + 0.9 * SMALL_CELL * systems
    return max(7.0, 3.2 + CELL * systems), max(3.2, 1.8 + 0.75 * CELL * systems)


def draw_head_to_head(axes: Axes, campaign: str, rows: Sequence[Row], table: HeadToHead) -> None:
    """Draw the table, with the systems in the order of the rows."""
    names, size = shorten_names(table.systems, LONGEST_NAME), len(rows)
    numbers = size <= MOST_NUMBERS
    draw_heat_map(
        axes, table.shares, [[table.cell(i, j) for j in range(size)] for i in range(size)] if numbers else None
    )
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
    axes.set_title(f"{campaign}\n{ABOUT}", x=0.0, fontsize=9, parse_math=False)
    stars = ", ".join(f"{star} p ≤ {level:.2f}" for level, star in reversed(STARS))
    lines = [f"{stars}: {table.about_test}"] if numbers else ["orange 0 %, white 50 %, blue 100 %"]
    axes.set_xlabel("\n".join([*lines, "beside the names: rank ranges; lines separate clusters"]), loc="left")
