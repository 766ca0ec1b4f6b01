"""Draw a ranking as a figure: rank ranges as in the WMT findings, head to head, and ratings over time."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from streams.reports.canvas import BLUE, GREY, ORANGE, canvas
from streams.reports.notes import board_title
from streams.reports.report import shorten_names
from streams.reports.score_axis import has_judge_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

    from streams.core.ranking.ranges import Floats
    from streams.reports.report import History, Report
    from streams.wire.events import Row

MOST_LINES = 20  # systems whose lines have a colour and a label
MOST_NUMBERS = 16
LONGEST_NAME = 36
_LINES = {"judges": "solid", "judgments": "dashed"}


def ranking_figure(report: Report) -> Figure:
    """Draw the figure of a campaign. This needs the extra `plot`."""
    systems = max(len(report.leaderboard.rows), 4)
    over_time = _has_history(report)
    upper, lower = 1.0 + (0.27 if systems <= 30 else 0.2) * systems, 4.2 if over_time else 0.0
    with canvas(12.5, upper + lower + 0.6) as drawn:
        drawn.suptitle(f"{board_title(report.leaderboard)}   {report.about}", x=0.01, ha="left", parse_math=False)
        rows: Any = drawn.subfigures(2, 1, height_ratios=[upper, lower]) if over_time else [drawn]
        share, met = report.head_to_head()
        panels = rows[0].subplots(1, 2 if met.any() else 1, squeeze=False)[0]
        _rank_ranges(panels[0], report)
        if met.any():  # scores compare no systems
            _head_to_head(panels[1], share)
        if over_time and report.history is not None:
            _over_time(rows[1].subplots(), report, report.history, import_module("matplotlib").colormaps["turbo"])
    return drawn


def _has_history(report: Report) -> bool:
    """Return whether there are ratings over time of the model that made the ranking. Others are not drawn beside it."""
    history = report.history
    return history is not None and len(history.judgments) > 1 and history.model == report.leaderboard.model


def _labels(report: Report) -> list[str]:
    names = [row.system for row in report.leaderboard.rows]
    short = shorten_names(names, LONGEST_NAME)
    return [short[name] for name in names]


def _rank_ranges(axes: Axes, report: Report) -> None:
    rows = report.leaderboard.rows
    for place, row in enumerate(rows):
        colour = BLUE if row.cluster % 2 else ORANGE
        if row.judge_rank_low is not None and row.judge_rank_high is not None:
            axes.plot([row.judge_rank_low, row.judge_rank_high], [place, place], color=colour, linewidth=1, alpha=0.6)
        axes.plot([row.rank_low, row.rank_high], [place, place], color=colour, linewidth=3, solid_capstyle="round")
        axes.plot(row.rank, place, "o", color=colour, markersize=6, clip_on=False)
        if place and row.island != rows[place - 1].island:
            axes.axhline(place - 0.5, color="black", linewidth=1.6)
        elif row.line_above is not None:
            axes.axhline(place - 0.5, color=GREY, linewidth=0.8, linestyle=_LINES[row.line_above])
    axes.set_title("Rank ranges at 95 %")
    axes.set_yticks(range(len(rows)), _labels(report), parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0.5, max(len(rows), 1) + 0.5)
    axes.locator_params(axis="x", integer=True)
    axes.grid(axis="x", color=GREY, alpha=0.2)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(_explain_ranges(rows))


def _explain_ranges(rows: Sequence[Row]) -> str:
    parts = ["rank"]
    if has_judge_ranges(rows):
        parts.append("thin: for other judges")
    kinds = {row.line_above for row in rows}
    if "judges" in kinds:
        parts.append("solid line: holds for other judges too")
    if "judgments" in kinds:
        parts.append("dashed: for these judges")
    if len({row.island for row in rows}) > 1:
        parts.append("black: never compared")
    return parts[0] + "".join(f"{';' if place else chr(10)} {part}" for place, part in enumerate(parts[1:]))


def _head_to_head(axes: Axes, share: Floats) -> None:
    axes.set_title("Row preferred to column, in %")
    draw_heat_map(axes, share)
    axes.set_xlabel("rank\nblue: the row wins; orange: the column wins; ties are ignored")


def draw_heat_map(axes: Axes, share: Floats, texts: Sequence[Sequence[str]] | None = None) -> None:
    """Draw shares as colours from orange to blue. Each cell has the given text, or percent if there is room."""
    colours = import_module("matplotlib.colors").LinearSegmentedColormap.from_list("", [ORANGE, "white", BLUE])
    places = range(len(share))
    axes.imshow(100 * share, cmap=colours, vmin=0, vmax=100, aspect="auto")
    axes.set_facecolor("#e6e7e9")  # pairs that never met
    step = -(-len(share) // 20)
    axes.set_xticks(places[::step], [str(place + 1) for place in places[::step]])
    axes.set_yticks(places, [str(place + 1) for place in places])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if texts or len(share) <= MOST_NUMBERS:
        for i, j in np.argwhere(~np.isnan(share)):
            text = texts[i][j] if texts else f"{100 * share[i, j]:.0f}"
            axes.text(j, i, text, ha="center", va="center", fontsize=7.5)


def _over_time(axes: Axes, report: Report, history: History, colours: Colormap) -> None:
    rows = [row for row in report.leaderboard.rows if row.system in history.systems]
    labels = dict(zip((row.system for row in report.leaderboard.rows), _labels(report), strict=True))
    lines = [history.of(row.system) for row in rows]
    named = min(len(rows), MOST_LINES)
    # Darker than in the colour map, because its yellow is hard to see on white.
    tones = 0.78 * colours(np.linspace(0.03, 0.97, named))[:, :3]
    for place in reversed(range(len(rows))):
        colour, width = (tones[place], 1.4) if place < named else (GREY, 0.5)
        axes.plot(history.judgments, lines[place], color=colour, linewidth=width)
    low, high = axes.get_ylim()
    heights = within(spread([float(line[-1]) for line in lines[:named]], gap=(high - low) / 24), low, high)
    for place, height in enumerate(heights):
        end = (history.judgments[-1], lines[place][-1])
        label_end(axes, labels[rows[place].system], end, to=(1.015, (height - low) / (high - low)), colour=tones[place])
    axes.set_title(f"Ratings over time, by {history.model}")
    axes.set_xlabel("judgments")
    axes.set_xlim(history.judgments[0], history.judgments[-1])
    axes.set_ylim(low, high)
    axes.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
    axes.grid(color=GREY, alpha=0.2)


def label_end(axes: Axes, text: str, end: tuple[float, float], *, to: tuple[float, float], colour: Any) -> None:
    """Write a label beside the axes, at `to` in fractions of the axes, and connect it to the end of its line."""
    axes.annotate(
        text,
        end,
        xytext=to,
        textcoords="axes fraction",
        va="center",
        fontsize=8,
        color=colour,
        parse_math=False,
        arrowprops={
            "arrowstyle": "-",
            "color": GREY,
            "linewidth": 0.5,
            "relpos": (0, 0.5),
            "shrinkA": 1,
            "shrinkB": 1,
        },
    )


def spread(heights: list[float], *, gap: float) -> list[float]:
    """Move labels apart just enough that they do not overlap. They are given from the highest to the lowest.

    >>> spread([1.0, 1.0, 0.0], gap=0.5)
    [1.25, 0.75, 0.0]
    """
    groups: list[tuple[float, int]] = []  # groups of labels that touch: the middle and the number of labels
    for height in heights:
        middle, size = height, 1
        while groups and groups[-1][0] - middle < gap * (groups[-1][1] + size) / 2:
            above, count = groups.pop()
            middle, size = (above * count + middle * size) / (count + size), count + size
        groups.append((middle, size))
    return [middle + gap * ((size - 1) / 2 - k) for middle, size in groups for k in range(size)]


def within(heights: list[float], low: float, high: float) -> list[float]:
    """Move labels into a range, as far as their distances allow. They are given from the highest to the lowest.

    >>> within([1.5, 0.75, 0.5], 0.0, 1.0)
    [1.0, 0.25, 0.0]
    >>> within([0.9, 0.5, -0.25], 0.0, 1.0)
    [1.0, 0.75, 0.0]
    """
    if not heights:
        return []
    shift = min(0.0, high - heights[0]) + max(0.0, low - heights[-1] - min(0.0, high - heights[0]))
    return [min(high, height + shift) for height in heights]
