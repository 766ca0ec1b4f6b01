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


class Noise(Experiment, frozen=True):
    """Correlation and nDCG with the gold scores if a share of the judges answers at random.

    Otani, Nakazawa, Kawahara and Kurohashi (2016), Table 1. All answers of these judges are replaced by random ones.
    They are the same judges for all models of a repeat. Models with a baseline are averaged over baselines, as in the
    paper.
    """

    name: ClassVar[str] = "noise"
    title: ClassVar[str] = "Correlation and nDCG with the scores of the whole log, by the share of random judges"
    reference: ClassVar[str] = "Otani et al. 2016, Table 1"
    needs: ClassVar[str] = "rankings by several judges"

    repeats: Annotated[int, Meta(ge=1, le=100_000)] = 5
    shares: tuple[Share, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    models: tuple[str, ...] = ("grm", "hopkins-may", "expected-wins", "trueskill", "trueskill-judges")
    size: Size = 6400
    baselines: Annotated[int, Meta(ge=1, le=1000)] = 1000

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign, model, baseline, share and repeat."""
        return correlation_cells(
            log,
            models=self.models,
            sizes=(self.size,),
            shares=self.shares,
            baselines=self.baselines,
            repeats=self.repeats,
            seed=self.seed,
        )

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Learn, and compare with the gold scores."""
        return measure_correlation(log, cell)

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return correlation and nDCG by model and share."""
        tables = []
        for measure, title in (("pearson", "Pearson's correlation"), ("ndcg", "nDCG")):
            shares = sorted({one.cell["noise"] for one in results})
            rows = []
            for model, group in group_by(average_baselines(results), "model").items():
                by_share = estimate_by(group, measure, "noise")
                rows.append((model, *(by_share[share] for share in shares)))
            columns = ("random judges", *(f"{share:.0%}" for share in shares))
            tables.append(ResultTable(title=title, columns=columns, rows=tuple(rows)))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw correlation and nDCG by share."""
        figure.set_size_inches(12.0, 4.4)
        left, right = figure.subplots(1, 2)
        marks = [100.0 * share for share in sorted({one.cell["noise"] for one in results})]
        for axes, measure, title in ((left, "pearson", "Pearson's correlation"), (right, "ndcg", "nDCG")):
            lines = [
                Line(
                    model,
                    {100.0 * share: point for share, point in estimate_by(group, measure, "noise").items()},
                    COLOURS[k % len(COLOURS)],
                )
                for k, (model, group) in enumerate(group_by(average_baselines(results), "model").items())
            ]
            axes.set_title(f"{title} with the scores of the whole log")
            draw_lines(axes, lines, marks=marks, label="judges who answer at random, %", log=False)


def average_baselines(results: Sequence[Result]) -> list[Result]:
    """Return the mean over baselines in each repeat, so that a repeat counts once."""
    found = []
    for group in group_by(results, "campaign", "model", "noise", "repeat").values():
        means = {name: sum(one.measured[name] for one in group) / len(group) for name in ("pearson", "ndcg")}
        found.append(Result(group[0].cell, means))
    return found
