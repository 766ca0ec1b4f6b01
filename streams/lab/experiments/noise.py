"""The effect of judges who answer at random, for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from streams.lab.experiments.correlation import Share, correlation_cells, measure_correlation
from streams.lab.running.base import Cell, Experiment, Result, Size
from streams.lab.running.figures import COLOURS, Line, draw_lines
from streams.lab.running.tables import ResultTable, estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.lab.running.log import Log

MEASURES = {"pearson": "Pearson's correlation", "ndcg": "nDCG"}
EVERY_SIZE = "mean"


class Noise(Experiment, frozen=True):
    """Correlation and nDCG with the gold scores if a share of the judges answers at random.

    Otani, Nakazawa, Kawahara and Kurohashi (2016), Table 1. All answers of these judges are replaced by random ones.
    They are the same judges for all models and sizes of a repeat. Models with a baseline are averaged over baselines,
    as in the paper. A baseline with fewer comparisons than a size is left out there.
    """

    name: ClassVar[str] = "noise"
    title: ClassVar[str] = "Correlation and nDCG with the scores of the whole log, by the share of random judges"
    reference: ClassVar[str] = "Otani et al. 2016, Table 1"
    needs: ClassVar[str] = "rankings by several judges"

    repeats: Annotated[int, Meta(ge=1, le=100_000)] = 5
    shares: tuple[Share, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    models: tuple[str, ...] = ("grm", "hopkins-may", "expected-wins", "trueskill", "trueskill-judges")
    sizes: tuple[Size, ...] = (800, 1600, 3200, 6400)
    baselines: Annotated[int, Meta(ge=1, le=1000)] = 1000

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign, model, baseline, share and repeat."""
        return correlation_cells(
            log,
            models=self.models,
            sizes=self.sizes,
            shares=self.shares,
            baselines=self.baselines,
            repeats=self.repeats,
            seed=self.seed,
        )

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Learn, and compare with the gold scores."""
        return measure_correlation(log, cell)

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return correlation and nDCG by size, model and share, and their means over all sizes."""
        tables = []
        averaged = average_baselines(results)
        shares = sorted({one.cell["noise"] for one in results})
        for measure, title in MEASURES.items():
            rows: list[tuple[Any, ...]] = []
            for size, group in (*group_by(averaged, "size").items(), (EVERY_SIZE, average_sizes(averaged))):
                for model, some in group_by(group, "model").items():
                    by_share = estimate_by(some, measure, "noise")
                    rows.append((size, model, *(by_share[share] for share in shares)))
            columns = ("pairs", "random judges", *(f"{share:.0%}" for share in shares))
            tables.append(ResultTable(title=title, columns=columns, rows=tuple(rows), labels=2))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw correlation and nDCG by share, one row of panels per size."""
        by_size = group_by(average_baselines(results), "size")
        figure.set_size_inches(12.0, 4.4 * len(by_size))
        panels = figure.subplots(len(by_size), len(MEASURES), squeeze=False)
        marks = [100.0 * share for share in sorted({one.cell["noise"] for one in results})]
        for row, (size, group) in zip(panels, by_size.items(), strict=True):
            for axes, (measure, title) in zip(row, MEASURES.items(), strict=True):
                lines = [
                    Line(
                        model,
                        {100.0 * share: point for share, point in estimate_by(some, measure, "noise").items()},
                        COLOURS[k % len(COLOURS)],
                    )
                    for k, (model, some) in enumerate(group_by(group, "model").items())
                ]
                axes.set_title(f"{title} with the scores of the whole log, {size:,} pairs")
                draw_lines(axes, lines, marks=marks, label="judges who answer at random, %", log=False)


def average_baselines(results: Sequence[Result]) -> list[Result]:
    """Return the mean over baselines in each repeat, so that a repeat counts once."""
    return _average(results, "campaign", "model", "size", "noise", "repeat")


def average_sizes(results: Sequence[Result]) -> list[Result]:
    """Return the mean over sizes in each repeat. The paper's Table 1 has the mean over all its data sets."""
    return _average(results, "campaign", "model", "noise", "repeat")


def _average(results: Sequence[Result], *names: str) -> list[Result]:
    """Return the mean of the results whose cells agree under these names. They keep the first cell."""
    return [
        Result(group[0].cell, {name: sum(one.measured[name] for one in group) / len(group) for name in MEASURES})
        for group in group_by(results, *names).values()
    ]
