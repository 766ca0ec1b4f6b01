"""Figures of experiments: image files, lines with error bars, panels and heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streams.reports.canvas import GREY, canvas, figure_bytes
from streams.reports.plots import label_end, spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.core.models.base import Floats
    from streams.lab.running.base import Experiment, Result
    from streams.lab.running.tables import Estimate

COLOURS = ("#0087d7", "#d75f00", "#1a9850", "#7b3fa0", "#8a8f98", "#b8860b", "#c2185b", "#00838f", "#5d4037", "#37474f")


def draw_image(experiment: Experiment, results: Sequence[Result], *, suffix: str) -> bytes:
    """Return the figure of an experiment as a PNG, SVG or PDF file. It needs the extra `plot`."""
    with canvas(10.0, 4.2) as drawn:
        experiment.plot(results, drawn)
    return figure_bytes(drawn, suffix=suffix)


class Line(NamedTuple):
    """Estimates by their value on the x axis, drawn as one line. A line without a label is known by its colour."""

    label: str
    points: Mapping[float, Estimate]
    colour: str
    style: str = "-"
    labelled: bool = True


def draw_lines(
    axes: Axes,
    lines: Sequence[Line],
    *,
    marks: Sequence[float],
    label: str,
    log: bool = True,
    limits: tuple[float, float] | None = None,
) -> None:
    """Draw lines with error bars of one standard error, slightly apart, with labels at their right ends."""
    width = 0.012 * (np.log(max(marks) / min(marks)) if log else max(marks) - min(marks)) / max(1, len(lines) ** 0.5)
    for k, line in enumerate(lines):
        aside = width * (k - 0.5 * (len(lines) - 1))
        axes.errorbar(
            [x * np.exp(aside) if log else x + aside for x in line.points],
            [point.mean for point in line.points.values()],
            [point.error or 0.0 for point in line.points.values()],
            color=line.colour,
            linestyle=line.style,
            marker="o",
            markersize=3,
            linewidth=1.2,
            elinewidth=0.8,
            capsize=1.5,
        )
    if log:
        axes.set_xscale("log")
    axes.set_xticks(marks, [f"{mark:,g}" for mark in marks])
    axes.minorticks_off()
    axes.set_xlabel(label)
    axes.grid(color=GREY, alpha=0.2)
    if limits:
        axes.set_ylim(limits)
    _label_ends(axes, [line for line in lines if line.labelled])


def limits_of(lines: Sequence[Line]) -> tuple[float, float]:
    """Return the axis range that contains all lines with their errors, and a margin."""
    points = [point for line in lines for point in line.points.values()]
    low, high = (
        min(point.mean - (point.error or 0.0) for point in points),
        max(point.mean + (point.error or 0.0) for point in points),
    )
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


def _label_ends(axes: Axes, lines: Sequence[Line]) -> None:
    """Write the labels at the right, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    ends = [(line, *list(line.points.items())[-1]) for line in lines]
    ends.sort(key=lambda end: -end[2].mean)
    gap = (high - low) / 17
    heights = spread([point.mean for _, _, point in ends], gap=gap)
    heights = [min(height, high - k * gap) for k, height in enumerate(heights)]  # none above the title
    for (line, x, point), height in zip(ends, heights, strict=True):
        place = (1.03, (height - low) / (high - low))
        label_end(axes, line.label, (x, point.mean), to=place, colour=line.colour)
    axes.set_ylim(low, high)


def grid(figure: Figure, count: int, *, width: float, height: float) -> list[Axes]:
    """Return `count` panels of a size in inches, three per row."""
    columns = min(3, count)
    rows = -(-count // columns)
    figure.set_size_inches(width * columns, height * rows)
    panels: list[Axes] = list(figure.subplots(rows, columns, squeeze=False).flat)
    for empty in panels[count:]:
        empty.set_axis_off()
    return panels[:count]


def heat_map(axes: Axes, met: Floats, title: str) -> None:
    """Draw the share of matches between any two systems, in order of rank. The diagonal is empty."""
    share = 100.0 * met / max(1.0, float(met.sum()) / 2.0)
    np.fill_diagonal(share, np.nan)
    drawn = axes.imshow(share, cmap="Blues", vmin=0.0)
    axes.set_facecolor("#e6e7e9")
    axes.set_title(title)
    axes.set_xlabel("rank")
    places = range(0, len(share), max(1, len(share) // 6))
    axes.set_xticks(places, [str(place + 1) for place in places])
    axes.set_yticks(places, [str(place + 1) for place in places])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02)
    bar.ax.set_title("%", fontsize=8)
    bar.outline.set_visible(False)
