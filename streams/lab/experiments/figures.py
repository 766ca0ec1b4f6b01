"""An experiment's results as a figure's file, in the house's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streams.reports.canvas import GREY, canvas, saved
from streams.reports.plots import spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from streams.lab.experiments.base import Experiment, Result
    from streams.lab.experiments.tables import Estimate

COLOURS = ("#0087d7", "#d75f00", "#1a9850", "#7b3fa0", "#8a8f98", "#b8860b", "#c2185b", "#00838f", "#5d4037", "#37474f")


def image(experiment: Experiment, results: Sequence[Result], *, suffix: str) -> bytes:
    """Give the figure as a file's content: PNG, SVG or PDF; it needs the extra `plot`."""
    with canvas(10.0, 4.2) as drawn:
        experiment.plot(results, drawn)
    return saved(drawn, suffix=suffix)


class Line(NamedTuple):
    """Estimates by what stands on the x axis, drawn as one line; one without a label is told by its colour."""

    label: str
    points: Mapping[float, Estimate]
    colour: str
    style: str = "-"
    labelled: bool = True


def draw_lines(axes: Axes, lines: Sequence[Line], *, marks: Sequence[float], label: str, log: bool = True) -> None:
    """Draw lines with error bars of one standard error, each named at its right end."""
    for line in lines:
        axes.errorbar(
            list(line.points),
            [point.mean for point in line.points.values()],
            [point.error or 0.0 for point in line.points.values()],
            color=line.colour,
            linestyle=line.style,
            marker="o",
            markersize=3,
            linewidth=1.3,
            capsize=2,
        )
    if log:
        axes.set_xscale("log")
    axes.set_xticks(marks, [f"{mark:,g}" for mark in marks])
    axes.minorticks_off()
    axes.set_xlabel(label)
    axes.grid(color=GREY, alpha=0.2)
    _label_ends(axes, [line for line in lines if line.labelled])


def _label_ends(axes: Axes, lines: Sequence[Line]) -> None:
    """Write the names at the right, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    ends = [(line, *list(line.points.items())[-1]) for line in lines]
    ends.sort(key=lambda end: -end[2].mean)
    heights = spread([point.mean for _, _, point in ends], gap=(high - low) / 16)
    for (line, x, point), height in zip(ends, heights, strict=True):
        axes.annotate(
            line.label,
            (x, point.mean),
            xytext=(1.03, (height - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            fontsize=8,
            color=line.colour,
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
    axes.set_ylim(low, high)
