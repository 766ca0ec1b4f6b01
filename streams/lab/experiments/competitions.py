"""Which model of a translation competition predicts best, by how much it has seen, of experts and of a crowd."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from streams.core.methods.registry import create_method
from streams.errors import ParameterError
from streams.lab.experiments.competition_tables import (
    BEST,
    costs_of_crowd,
    differences,
    estimate,
    means,
    models_of,
    sizes,
)
from streams.lab.measures.prediction import accuracy, perplexity
from streams.lab.protocols.iid import least_judged
from streams.lab.protocols.learners import check_learners
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Repeats, Result, Size
from streams.lab.running.figures import COLOURS, Line, draw_lines
from streams.lab.running.tables import Estimate, ResultTable, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.core.methods.pairs import Pairs
    from streams.lab.running.log import Log

Pool = Literal["own", "crowd"]
SAMPLED = ("hopkins-may", "hopkins-may-categorical")


class Competitions(Experiment, frozen=True):
    """Perplexity on the comparisons of the least judged segments, by training size and model.

    Hopkins and May (2013), Table 3, Figures 2, 3 and 5. The test set is that of `lab.protocols.iid`. Models learn from
    the rest of the campaign, or from the crowd's campaign of the same language pair (wmt10-public.cs-en for
    wmt10.cs-en). A pool that is too small is used whole. Estimates are over campaigns, each the mean of its repeats,
    because all repeats of a campaign share one test set.
    """

    name: ClassVar[str] = "competitions"
    title: ClassVar[str] = "Perplexity of models of competitions, by training size, of experts and of a crowd"
    reference: ClassVar[str] = "Hopkins and May 2013, Table 3, Figures 2, 3 and 5"
    needs: ClassVar[str] = "campaigns of more than 2,000 pairs"

    repeats: Repeats = 5
    sizes: tuple[Size, ...] = (100, 200, 400, 800, 1600, 3200)
    models: tuple[str, ...] = (
        "uniform",
        "adjusted-uniform",
        "independent-pairs",
        "independent-students-asymmetric",
        "independent-students-arithmetic",
        "independent-students-geometric",
        "hopkins-may-categorical",
        "hopkins-may",
        "trueskill",
        "bradley-terry-ties",
    )
    tracks: str = "*"
    crowd: str = "*-public.*"
    # The paper tuned its hyperparameters on these.
    without: tuple[str, ...] = ("wmt10.de-en", "wmt10.en-de")
    held_out: Size = 2000

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign, pool, model and size, with all repeats."""
        check_learners(self.models)
        pairs = {name: len(rankings.pairs) for name, rankings in log.campaigns.items()}
        tracks = [
            name
            for name, count in pairs.items()
            if fnmatchcase(name, self.tracks) and not fnmatchcase(name, self.crowd) and name not in self.without
            if count > self.held_out
        ]
        if not tracks:
            raise ParameterError(
                f"no campaign like {self.tracks!r} has more than {self.held_out:,} pairs; choose others"
            )
        crowds = {_pair(name): name for name in pairs if fnmatchcase(name, self.crowd)}
        return [
            {
                "campaign": track,
                "pool": pool,
                "training": training,
                "model": model,
                "size": size,
                "repeats": self.repeats,
                "held_out": self.held_out,
                "seed": self.seed,
            }
            for pool in ("own", "crowd")
            for track in tracks
            if (training := track if pool == "own" else crowds.get(_pair(track)))
            for model in self.models
            for size in self.sizes
        ]

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Learn from random draws of the pool, and measure each on the whole test set."""
        split = least_judged(log.campaigns[cell["campaign"]].pairs, fewest=cell["held_out"])
        pool = split.training
        if cell["training"] != cell["campaign"]:
            pool = renumbered(log.campaigns[cell["training"]].pairs, pool.systems)
        found: dict[str, Any] = {
            "perplexity": [],
            "accuracy": [],
            "pool": len(pool),
            "test": len(split.test),
            "most": split.most,
        }
        for repeat in range(cell["repeats"]):
            key = (cell["seed"], repeat, cell["training"], cell["size"])
            training = pool.select(random_generator(*key).permutation(len(pool))[: cell["size"]])
            options = {"seed": repeat} if cell["model"] in SAMPLED else {}
            held = create_method(cell["model"], options).fit(training).probabilities(split.test)
            found["perplexity"].append(perplexity(held, split.test.outcome))
            found["accuracy"].append(accuracy(held, split.test.outcome))
        return found

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return the sizes of the data, perplexity, and differences: to the paper's best, and of crowd to experts."""
        tables = [sizes(results)]
        for pool, some in group_by(results, "pool").items():
            whose = "trained on the campaign itself" if pool == "own" else "trained on the crowd's campaign"
            tables.append(means(some, f"Perplexity, {whose}"))
            tables.append(differences(some, f"Perplexity above that of {BEST}, {whose}"))
        if any(result.cell["pool"] == "crowd" for result in results):
            tables.append(costs_of_crowd(results, "Cost in perplexity of learning from the crowd instead"))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw perplexity by size, one panel per pool."""
        pools = group_by(results, "pool")
        figure.set_size_inches(6.2 * len(pools), 4.6)
        panels = figure.subplots(1, len(pools), squeeze=False)[0]
        groups = group_by([one for one in results if one.cell["model"] != "uniform"], "pool", "model", "size")
        means = [estimate(some).mean for some in groups.values()]
        low, high = min(means), max(means)
        for axes, (pool, some) in zip(panels, pools.items(), strict=True):
            axes.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
            _draw(axes, some)
            axes.set_title("Trained on the campaign itself" if pool == "own" else "Trained on the crowd's campaign")
        panels[0].set_ylabel("perplexity on the least judged segments")


def renumbered(pairs: Pairs, systems: tuple[str, ...]) -> Pairs:
    """Return pairs with the system numbers of another campaign, without pairs of systems that it does not have."""
    place = np.array([systems.index(name) if name in systems else -1 for name in pairs.systems], np.int64)
    a, b = place[pairs.a], place[pairs.b]
    known = (a >= 0) & (b >= 0)
    some = pairs.select(known)
    return replace(some, a=a[known], b=b[known], systems=systems)


def _pair(campaign: str) -> str:
    return campaign.rpartition(".")[2]


def _draw(axes: Axes, results: Sequence[Result]) -> None:
    models = models_of(results)
    lines = [
        Line(
            model,
            # No error bars: campaigns differ more than models do. The table has the errors of the differences.
            {size: Estimate(estimate(one).mean, None, len(one)) for size, one in group_by(some, "size").items()},
            COLOURS[models.index(model) % len(COLOURS)],
        )
        for model, some in group_by(results, "model").items()
        if model != "uniform"
    ]
    draw_lines(axes, lines, marks=sorted({result.cell["size"] for result in results}), label="training pairs")
