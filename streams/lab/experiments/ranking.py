"""The official ranking of a log: scores, rank ranges and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from streams.core.ranking import clusters, rank_scores
from streams.lab.protocols.gold import pair_counts
from streams.lab.running.base import Cell, Experiment, Result
from streams.lab.running.figures import COLOURS, grid
from streams.lab.running.tables import ResultTable
from streams.reports.canvas import GREY
from streams.reports.report import short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.lab.running.log import Log


class ExpectedWinsRanking(Experiment, frozen=True):
    """Expected Wins with rank ranges from resamples of the pairs, as WMT13 ranked.

    Sakaguchi, Post and Van Durme (2014), Table 1, from the findings of WMT13; `judgestream rank FILE --model
    expected-wins --ranges bootstrap` prints the same.
    """

    name: ClassVar[str] = "ranking"
    title: ClassVar[str] = "The ranking by Expected Wins"
    reference: ClassVar[str] = "Sakaguchi et al. 2014, Table 1"

    repeats: Annotated[int, Meta(ge=1, le=100_000)] = 1
    runs: Annotated[int, Meta(ge=3, le=1_000_000)] = 1000

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign and repeat."""
        return [
            {"campaign": name, "repeat": repeat, "seed": self.seed, "runs": self.runs}
            for name in log.campaigns
            for repeat in range(self.repeats)
        ]

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Rank the systems."""
        pairs = log.campaigns[cell["campaign"]].pairs
        ranked = rank_scores(
            "bootstrap",
            pair_counts(pairs),
            runs=cell["runs"],
            seed=cell["seed"] + 1_000_003 * cell["repeat"],
        )
        order = sorted(range(len(pairs.systems)), key=lambda k: -ranked.score[k])
        best, worst = ranked.best[order], ranked.worst[order]
        return {
            "systems": [pairs.systems[k] for k in order],
            "scores": ranked.score[order].tolist(),
            "deviations": ranked.deviation[order].tolist(),
            "best": best.tolist(),
            "worst": worst.tolist(),
            "clusters": clusters(best, worst).tolist(),
        }

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return one ranking per campaign."""
        tables = []
        for one in results:
            found = one.measured
            rows = tuple(
                zip(
                    found["clusters"],
                    (f"{low}-{high}" if low != high else str(low) for low, high in _ranges(found)),
                    short_names(found["systems"]).values(),
                    found["scores"],
                    found["deviations"],
                    strict=True,
                )
            )
            columns = ("cluster", "range", "system", "Expected Wins", "deviation")
            tables.append(ResultTable(title=one.cell["campaign"], columns=columns, rows=rows, labels=3))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw the rank ranges of each campaign, with lines between clusters."""
        for axes, one in zip(grid(figure, len(results), width=6.5, height=4.6), results, strict=True):
            found = one.measured
            for place, (low, high) in enumerate(_ranges(found), 1):
                colour = COLOURS[(found["clusters"][place - 1] + 1) % 2]
                axes.plot([low, high], [place, place], color=colour, linewidth=3, solid_capstyle="round")
                axes.plot(place, place, "o", color=colour, markersize=5)
                if place > 1 and found["clusters"][place - 1] != found["clusters"][place - 2]:
                    axes.axhline(place - 0.5, color=GREY, linewidth=0.7)
            names = list(short_names(found["systems"]).values())
            labels = [f"{name}  {score:.3f}" for name, score in zip(names, found["scores"], strict=True)]
            axes.set_yticks(range(1, len(names) + 1), labels, parse_math=False)
            axes.set_ylim(len(names) + 0.5, 0.5)
            axes.set_xlabel("rank; a line ends a cluster")
            axes.set_title(one.cell["campaign"])
            axes.locator_params(axis="x", integer=True)
            axes.grid(axis="x", color=GREY, alpha=0.2)
            axes.tick_params(axis="y", length=0)


def _ranges(found: dict[str, Any]) -> list[tuple[int, int]]:
    return list(zip(found["best"], found["worst"], strict=True))
