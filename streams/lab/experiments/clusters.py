"""The number of clusters of systems, by the number of judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.ranking import clusters, sampled_ranges
from streams.errors import ParameterError
from streams.lab.protocols.drawing import draw_pairs
from streams.lab.protocols.gold import official_order
from streams.lab.protocols.learners import PRINTED, SELECTS, check_learners, fit, learn_by_selection
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Result, Size
from streams.lab.running.figures import COLOURS, Line, draw_lines
from streams.lab.running.tables import ResultTable, estimate_by, group_by
from streams.reports.canvas import GREY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats
    from streams.lab.running.log import Log


class Clusters(Experiment, frozen=True):
    """The number of clusters of non-overlapping rank ranges over several runs of a model.

    Sakaguchi, Post and Van Durme (2014), Figures 8 to 10. A model that selects its matches selects them again in every
    run, from the whole log. A run of any other model uses a resample, with replacement, of one draw of pairs.
    """

    name: ClassVar[str] = "clusters"
    title: ClassVar[str] = "Clusters of systems, by the amount of data"
    reference: ClassVar[str] = "Sakaguchi et al. 2014, Figures 8 to 10"

    repeats: Annotated[int, Meta(ge=1, le=100_000)] = 2
    sizes: tuple[Size, ...] = (1000, 2000, 4000, 8000, 16_000, 25_000)
    models: tuple[str, ...] = ("expected-wins", "hopkins-may", SELECTS)
    runs: Annotated[int, Meta(ge=3, le=10_000)] = 40

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign, size, model and repeat. Sizes above the log's are left out."""
        check_learners(self.models)
        found = [
            {
                "campaign": name,
                "repeat": repeat,
                "size": size,
                "model": model,
                "seed": self.seed,
                "runs": self.runs,
            }
            for name, rankings in log.campaigns.items()
            for size in self.sizes
            if size <= len(rankings.pairs)
            for model in self.models
            for repeat in range(self.repeats)
        ]
        if not found:
            raise ParameterError(f"no campaign has {min(self.sizes):,} pairs; use smaller sizes")
        return found

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Run the model, and return the number of clusters and the quartiles of the ranks in runs."""
        rankings = log.campaigns[cell["campaign"]]
        random = random_generator(cell["seed"], cell["repeat"], cell["campaign"], cell["size"])
        scores = _runs(cell["model"], rankings.pairs, cell["size"], cell["runs"], random)
        best, worst = sampled_ranges(scores)
        order = np.argsort(-scores.mean(axis=0), kind="stable")
        ranks = 1 + np.argsort(np.argsort(-scores, axis=1), axis=1)
        official = official_order(rankings)
        return {
            "clusters": int(clusters(best[order], worst[order])[-1]),
            "width": float((worst - best + 1).mean()),
            "systems": [rankings.systems[k] for k in official],
            "ranks": np.percentile(ranks, [0, 25, 50, 75, 100], axis=0).T[official].tolist(),
        }

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return clusters, and the ranks that a system may have, by size and model."""
        tables = []
        for measure, title in (("clusters", "Clusters"), ("width", "Ranks that a system may have, on average")):
            by_model = {model: estimate_by(some, measure, "size") for model, some in group_by(results, "model").items()}
            sizes = list(dict.fromkeys(one.cell["size"] for one in results))
            rows = tuple((size, *(by_model[model].get(size) for model in by_model)) for size in sizes)
            tables.append(ResultTable(title=title, columns=("pairs", *by_model), rows=rows, digits=1))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw clusters by size, and the last model's ranks with the fewest and the most pairs."""
        figure.set_size_inches(14.0, 4.4)
        panels = figure.subplots(1, 3)
        by_model = group_by(results, "model")
        lines = [
            Line(model, estimate_by(group, "clusters", "size"), COLOURS[k % len(COLOURS)])
            for k, (model, group) in enumerate(by_model.items())
        ]
        panels[0].set_title("Clusters by training pairs")
        draw_lines(panels[0], lines, marks=sorted({one.cell["size"] for one in results}), label="training pairs")
        model, group = list(by_model.items())[-1]
        by_size = group_by(group, "size")
        for axes, size in zip(panels[1:], (min(by_size), max(by_size)), strict=True):
            _boxes(axes, by_size[size][0])
            axes.set_title(f"Ranks by {model}, {size:,} pairs")


def _runs(model: str, pool: Pairs, size: int, runs: int, random: np.random.Generator) -> Floats:
    """Return the scores of each run, one row per run."""
    if model in (SELECTS, PRINTED):
        chosen = (learn_by_selection(pool, size, random, printed=model == PRINTED) for _ in range(runs))
        return np.stack([_scores(fitted) for fitted in chosen])
    sample = draw_pairs(pool, size, random)
    resamples = (sample.select(random.integers(size, size=size)) for _ in range(runs))
    return np.stack([_scores(fit(model, resample, random)) for resample in resamples])


def _scores(fitted: Any) -> Floats:
    if fitted.scores is None:
        raise ParameterError("clusters need scores, and this model has none; choose another model")
    scores: Floats = fitted.scores
    return scores


def _boxes(axes: Axes, result: Result) -> None:
    """Draw quartiles as a box and the whole range as whiskers, with systems in the order of the whole log."""
    for place, (least, low, middle, high, most) in enumerate(result.measured["ranks"], 1):
        axes.plot([place, place], [least, most], color=GREY, linewidth=0.9)
        axes.plot([place, place], [low, high], color=COLOURS[0], linewidth=6, solid_capstyle="butt", alpha=0.6)
        axes.plot(place, middle, "_", color="black", markersize=8)
    count = len(result.measured["ranks"])
    axes.plot([1, count], [1, count], color=GREY, linewidth=0.5, linestyle=":")
    axes.set_ylim(count + 0.6, 0.4)
    axes.set_xlabel("rank by all judgments of the log")
    axes.set_ylabel("rank in a run")
    axes.locator_params(integer=True)
