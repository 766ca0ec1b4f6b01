"""How many runs of the official procedure gold scores need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from streams.core import kernels
from streams.core.methods.wmt import wmt_runs
from streams.lab.measures.correlation import kendall, pearson
from streams.lab.protocols.gold import pair_counts
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Repeats, Result, Size
from streams.lab.running.figures import COLOURS, Line, draw_lines
from streams.lab.running.tables import ResultTable, estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.lab.running.log import Log


class GoldScores(Experiment, frozen=True):
    """How far scores from few runs of TrueSkill are from the mean of many runs.

    Otani, Nakazawa, Kawahara and Kurohashi (2016), 6.1, take the mean of 1,000 resampled runs as gold scores. The runs
    of a repeat are drawn at random from those that the mean is made of.
    """

    name: ClassVar[str] = "gold"
    title: ClassVar[str] = "Gold scores of the whole log, by the number of runs"
    reference: ClassVar[str] = "Otani et al. 2016, section 6.1"

    repeats: Repeats = 200
    runs: tuple[Size, ...] = (5, 20, 100)
    all_runs: Size = 1000

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign: its runs are computed once for all repeats."""
        return [
            {
                "campaign": name,
                "runs": list(self.runs),
                "all_runs": self.all_runs,
                "draws": self.repeats,
                "seed": self.seed,
            }
            for name in log.campaigns
        ]

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Compare means over some runs with the mean over all runs."""
        kernels.compiled("wmt")
        found = wmt_runs(pair_counts(log.campaigns[cell["campaign"]].pairs), runs=cell["all_runs"], seed=cell["seed"])
        gold = found.mean(axis=0)
        measured: dict[str, Any] = {"pearson": [], "tau": []}
        random = random_generator(cell["seed"], cell["campaign"], "gold")
        for runs in cell["runs"]:
            means = [found[random.permutation(len(found))[:runs]].mean(axis=0) for _ in range(cell["draws"])]
            measured["pearson"].append([pearson(mean, gold) for mean in means])
            measured["tau"].append([kendall(mean, gold) for mean in means])
        return measured

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return the correlation and Kendall's tau with the mean of all runs."""
        rows = []
        for number, group in group_by(by_runs(results), "runs").items():
            found = [estimate_by(group, name, "runs")[number] for name in ("pearson", "tau")]
            rows.append((number, *found))
        title = f"Gold scores from some runs and from {results[0].cell['all_runs']:,}"
        columns = ("runs", "Pearson's correlation", "Kendall's tau")
        return [ResultTable(title=title, columns=columns, rows=tuple(rows), digits=5)]

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw the correlation by the number of runs."""
        points = estimate_by(by_runs(results), "pearson", "runs")
        axes = figure.subplots()
        axes.set_title("Correlation with the mean of all runs")
        draw_lines(axes, [Line("some runs", points, COLOURS[0])], marks=sorted(points), label="runs")


def by_runs(results: Sequence[Result]) -> list[Result]:
    """Return one result per number of runs and draw."""
    return [
        Result(
            {"campaign": one.cell["campaign"], "runs": runs, "repeat": draw},
            {name: one.measured[name][place][draw] for name in ("pearson", "tau")},
        )
        for one in results
        for place, runs in enumerate(one.cell["runs"])
        for draw in range(one.cell["draws"])
    ]
