"""The value of matches of several systems: free-for-alls of two to five, by matches or by pairs."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from msgspec import Meta

from streams.core import kernels
from streams.core.methods import Fitted
from streams.core.models import create
from streams.errors import ParameterError
from streams.lab.measures.prediction import accuracy, accuracy_bound
from streams.lab.protocols.drawing import hold_out, remaining
from streams.lab.protocols.radius import tune_radius
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Result, Size
from streams.lab.running.figures import COLOURS, Line, draw_lines, limits_of
from streams.lab.running.tables import ResultTable, estimate_by, group_by, remove_repeat_effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.lab.running.log import Log

Fixed = Literal["matches", "pairs"]


class Ways(Experiment, frozen=True):
    """Accuracy of TrueSkill on n-way free-for-alls, for a fixed number of matches or of pairs.

    Sakaguchi, Post and Van Durme (2014), Tables 3 and 4. A match of n has n systems of a ranking, drawn at random. The
    rankings are drawn at random for every n, so that only n differs. The held-out sets are as in `prediction`.
    """

    name: ClassVar[str] = "ways"
    title: ClassVar[str] = "Accuracy by the number of systems in a match"
    reference: ClassVar[str] = "Sakaguchi et al. 2014, Tables 3 and 4"
    needs: ClassVar[str] = "rankings of three systems or more"

    sizes: tuple[Size, ...] = (400, 800, 1600, 3200, 6400)
    ways: tuple[Annotated[int, Meta(ge=2, le=100)], ...] = (2, 3, 4, 5)
    fixed: tuple[Fixed, ...] = ("matches", "pairs")
    profile: Literal["wmt", "online"] = "wmt"
    researchers: str = "researcher*"
    held_out: Size = 2000

    def cells(self, log: Log) -> list[Cell]:
        """Return the cells. Ways and sizes that the log does not have are left out."""
        found = [
            {
                "campaign": name,
                "repeat": repeat,
                "fixed": fixed,
                "size": size,
                "ways": ways,
                "seed": self.seed,
                "profile": self.profile,
                "researchers": self.researchers,
                "held_out": self.held_out,
            }
            for name, rankings in log.campaigns.items()
            for share in [remaining(rankings, self.researchers, self.held_out)]
            for repeat in range(self.repeats)
            for fixed in self.fixed
            for size in self.sizes
            for ways in self.ways
            if _matches(fixed, size, ways) <= share * np.count_nonzero(rankings.sizes >= ways)
        ]
        if not found:
            raise ParameterError(f"no campaign has enough rankings for matches of {self.ways}; use smaller sizes")
        return found

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Rate the matches, tune the radius, and measure on the test set."""
        rankings = log.campaigns[cell["campaign"]]
        key = (cell["seed"], cell["repeat"], cell["campaign"])
        held = hold_out(rankings, cell["researchers"], cell["held_out"], key)
        training = held.split.training
        random = random_generator(*key, cell["size"], cell["ways"], "training")
        able = training[rankings.sizes[training] >= cell["ways"]]
        matches = _matches(cell["fixed"], cell["size"], cell["ways"])
        rows = random.permutation(able)[:matches]
        kernels.compiled("freeforall")
        model = create("trueskill", {"profile": cell["profile"], "ways": "free-for-all"}, budget=matches)
        model.grow(len(rankings.systems), len(rankings.judges), 0)
        model.apply(rankings.to_batch(rows, ways=cell["ways"], random=random))
        mean, deviation = model.scores()
        fitted = Fitted(outcomes=np.zeros((len(mean), len(mean), 3)), scores=mean, deviations=deviation)
        best = tune_radius(fitted, held.development, measure="accuracy").fitted
        return {
            "accuracy": accuracy(best.probabilities(held.test), held.test.outcome),
            "bound": accuracy_bound(held.test),
            "matches": len(rows),
        }

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return one table by number of matches, and one by number of pairs."""
        tables = []
        for fixed, group in group_by(results, "fixed").items():
            ways = list(dict.fromkeys(one.cell["ways"] for one in group))
            by_ways = {n: estimate_by(some, "accuracy", "size") for n, some in group_by(group, "ways").items()}
            sizes = list(dict.fromkeys(one.cell["size"] for one in group))
            rows = tuple((size, *(by_ways[n].get(size) for n in ways)) for size in sizes)
            title = f"Accuracy by number of {fixed}"
            tables.append(ResultTable(title=title, columns=(fixed, *(f"N = {n}" for n in ways)), rows=rows))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw accuracy by size, one line per number of systems."""
        panels: dict[Fixed, list[Line]] = {}
        for (fixed, ways), group in group_by(remove_repeat_effects(results, "accuracy"), "fixed", "ways").items():
            lines = panels.setdefault(fixed, [])
            lines.append(
                Line(f"N = {ways}", estimate_by(group, "accuracy", "size"), COLOURS[len(lines) % len(COLOURS)])
            )
        limits = limits_of([line for lines in panels.values() for line in lines])
        subplots = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (fixed, lines) in zip(subplots, panels.items(), strict=True):
            axes.set_title(f"Accuracy by {fixed}")
            marks = sorted({size for line in lines for size in line.points})
            draw_lines(axes, lines, marks=marks, label=fixed, limits=limits)


def _matches(fixed: Fixed, size: int, ways: int) -> int:
    return size if fixed == "matches" else max(1, round(size / comb(ways, 2)))
