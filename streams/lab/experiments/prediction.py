"""Prediction of held-out judgments by models, by training size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from streams.lab.measures.prediction import accuracy, accuracy_bound, perplexity
from streams.lab.protocols.drawing import find_judges, hold_out, remaining
from streams.lab.protocols.learners import PRINTED, SELECTS, check_learners, learn
from streams.lab.protocols.radius import tune_radius
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Result, Size
from streams.lab.running.figures import COLOURS, Line, draw_lines
from streams.lab.running.tables import Estimate, ResultTable, estimate_by, group_by, remove_repeat_effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.core.methods.rankings import Rankings
    from streams.lab.running.log import Log

Pool = Literal["all", "researchers", "leaking"]


class Prediction(Experiment, frozen=True):
    """Accuracy and perplexity on 2,000 held-out pairs of researchers, with the radius tuned on 2,000 others.

    Sakaguchi, Post and Van Durme (2014), Table 2, Figures 3 and 4. Every repeat holds out other segments. All models of
    a repeat learn from the same pool and are measured on the same test set, so that their differences are paired. A log
    without researchers is tested on all of its judges. The pool `leaking` contains the test set, to show the effect of
    such a leak.
    """

    name: ClassVar[str] = "prediction"
    title: ClassVar[str] = "Accuracy and perplexity on held-out judgments, by training size"
    reference: ClassVar[str] = "Sakaguchi et al. 2014, Table 2, Figures 3 and 4"

    sizes: tuple[Size, ...] = (400, 800, 1600, 3200, 6400)
    models: tuple[str, ...] = (
        *("expected-wins", "hopkins-may", "hopkins-may-shift"),
        *("trueskill-selects", "trueskill"),
    )
    pools: tuple[Pool, ...] = ("all", "researchers")
    researchers: str = "researcher*"
    held_out: Size = 2000

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign, repeat, pool, size and model. Sizes above the pool's are left out."""
        check_learners(self.models)
        return [
            {
                "campaign": name,
                "repeat": repeat,
                "pool": pool,
                "size": size,
                "model": model,
                "seed": self.seed,
                "researchers": self.researchers,
                "held_out": self.held_out,
            }
            for name, rankings in log.campaigns.items()
            for pools in [self._pools(rankings)]
            for repeat in range(self.repeats)
            for pool, most in pools
            for size in self.sizes
            if size <= most
            for model in self.models
        ]

    def _pools(self, rankings: Rankings) -> list[tuple[Pool, int]]:
        """Return the pools of a campaign, and how many pairs at least remain in them."""
        size = rankings.sizes * (rankings.sizes - 1) // 2
        known = find_judges(rankings, self.researchers)
        by_researchers = int(size[np.isin(rankings.judge, known)].sum())
        found: list[tuple[Pool, int]] = [("all", int(size.sum()))]
        if len(known):
            found.append(("researchers", by_researchers))
        found.append(("leaking", int(size.sum())))
        share = remaining(rankings, self.researchers, self.held_out)
        return [(pool, int(share * pairs)) for pool, pairs in found if pool in self.pools]

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Learn, tune the radius for each measure, and measure on the test set."""
        rankings = log.campaigns[cell["campaign"]]
        key = (cell["seed"], cell["repeat"], cell["campaign"])
        held = hold_out(rankings, cell["researchers"], cell["held_out"], key)
        pool, test = held.pool, held.test
        if cell["pool"] == "leaking":
            pool = rankings.pairs
        elif cell["pool"] == "researchers":
            pool = pool.select(np.flatnonzero(np.isin(pool.judge, held.testers)))
        fitted = learn(cell["model"], pool, cell["size"], random_generator(*key, cell["size"], "training"))
        found: dict[str, Any] = {"bound": accuracy_bound(test)}
        if cell["model"] not in (SELECTS, PRINTED):
            own = fitted.probabilities(test)
            found |= {"accuracy": accuracy(own, test.outcome), "perplexity": perplexity(own, test.outcome)}
        if fitted.deviations is not None:
            best = tune_radius(fitted, held.development, measure="accuracy")
            probabilities = best.fitted.probabilities(test)
            found |= {"accuracy": accuracy(probabilities, test.outcome), "accuracy_radius": best.radius}
            if fitted.deviations.all():
                best = tune_radius(fitted, held.development, measure="perplexity")
                probabilities = best.fitted.probabilities(test)
                found |= {
                    "carved_perplexity": perplexity(probabilities, test.outcome),
                    "perplexity_radius": best.radius,
                }
        return found

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return accuracy with its bound, perplexity, and the differences of models within repeats."""
        return [
            _by_size(results, "accuracy", "Accuracy"),
            _differences(results),
            _by_size(results, "perplexity", "Perplexity, by the model's own probabilities"),
            _by_size(results, "carved_perplexity", "Perplexity, by normals split at a tuned radius"),
        ]

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw accuracy and perplexity by size. Dashed lines are models trained on researchers only."""
        figure.set_size_inches(11.5, 4.4)
        left, right = figure.subplots(1, 2)
        _draw(left, results, "accuracy")
        left.set_title("Accuracy on held-out judgments")
        _draw(right, results, "perplexity")
        right.set_title("Perplexity on held-out judgments")


def _models(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(result.cell["model"] for result in results))


def _estimate(results: Sequence[Result], measure: str) -> Estimate | None:
    found = [result.measured[measure] for result in results if measure in result.measured]
    return Estimate.of(found) if found else None


def _by_size(results: Sequence[Result], measure: str, title: str) -> ResultTable:
    models = _models(results)
    rows: list[tuple[Any, ...]] = []
    for (pool, size), group in group_by(results, "pool", "size").items():
        by_model = group_by(group, "model")
        rows.append((pool, size, *(_estimate(by_model[model], measure) for model in models)))
    if measure == "accuracy":
        bounds = {(one.cell["campaign"], one.cell["repeat"]): one.measured["bound"] for one in results}
        rows.append(("upper bound", "", Estimate.of(bounds.values()), *[None] * (len(models) - 1)))
    return ResultTable(title=title, columns=("trained on", "pairs", *models), rows=tuple(rows), labels=2)


def _differences(results: Sequence[Result]) -> ResultTable:
    """Return the difference of every model to the one before it, paired by repeat."""
    models = _models(results)
    couples = list(zip(models[1:], models[:-1], strict=True))
    rows = []
    for (pool, size), group in group_by(results, "pool", "size").items():
        by_model = {
            model: np.array([one.measured["accuracy"] for one in some])
            for model, some in group_by(group, "model").items()
        }
        rows.append((pool, size, *(Estimate.of(by_model[one] - by_model[other]) for one, other in couples)))
    columns = ("trained on", "pairs", *(f"{one} − {other}" for one, other in couples))
    return ResultTable(
        title="Differences in accuracy, paired by repeat", columns=columns, rows=tuple(rows), labels=2, digits=4
    )


def _draw(axes: Axes, results: Sequence[Result], measure: str) -> None:
    """Draw a measure by size, with the errors within repeats."""
    shown = remove_repeat_effects([one for one in results if one.cell["pool"] != "leaking"], measure)
    models = _models(results)
    lines = [
        Line(
            model,
            estimate_by(group, measure, "size"),
            COLOURS[models.index(model) % len(COLOURS)],
            "-" if pool == "all" else "--",
            labelled=pool == "all",
        )
        for (model, pool), group in group_by(shown, "model", "pool").items()
    ]
    dashed = "; dashed: researchers only" if len(group_by(shown, "pool")) > 1 else ""
    draw_lines(axes, lines, marks=sorted({one.cell["size"] for one in shown}), label=f"training pairs{dashed}")
