"""Abilities of systems by Hopkins and May's Gaussian model from few judgments, and how much they vary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from streams.core.methods.registry import create_method
from streams.lab.protocols.iid import least_judged
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Repeats, Result, Size
from streams.lab.running.tables import ResultTable, group_by
from streams.reports.canvas import BLUE, GREY
from streams.reports.plots import draw_heat_map
from streams.reports.report import short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.core.models.base import Floats
    from streams.lab.running.log import Log

MODEL = "hopkins-may"


class Abilities(Experiment, frozen=True):
    """The ability of each system: the mean and the standard deviation over random training sets.

    Hopkins and May (2013), Figure 6. Pairs are drawn from what is left when the test set of `competitions` is held out,
    or from all pairs of a small campaign. The average ability is 0, because comparisons only show differences.
    """

    name: ClassVar[str] = "abilities"
    title: ClassVar[str] = "Abilities by Hopkins and May's Gaussian model, from few judgments"
    reference: ClassVar[str] = "Hopkins and May 2013, Figure 6"

    repeats: Repeats = 5
    size: Size = 1600
    held_out: Size = 2000

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign and repeat."""
        return [
            {"campaign": name, "repeat": repeat, "size": self.size, "held_out": self.held_out, "seed": self.seed}
            for name in log.campaigns
            for repeat in range(self.repeats)
        ]

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Learn from a random draw of pairs."""
        pairs = log.campaigns[cell["campaign"]].pairs
        if len(pairs) > cell["held_out"] + cell["size"]:
            pairs = least_judged(pairs, fewest=cell["held_out"]).training
        random = random_generator(cell["seed"], cell["repeat"], cell["campaign"])
        training = pairs.select(random.permutation(len(pairs))[: cell["size"]])
        fitted = create_method(MODEL, {"seed": cell["repeat"]}).fit(training)
        assert fitted.scores is not None
        decided = fitted.outcomes[..., 0] / (fitted.outcomes[..., 0] + fitted.outcomes[..., 2])
        return {"systems": list(pairs.systems), "ability": fitted.scores.tolist(), "decided": decided.tolist()}

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return the abilities, best first."""
        tables = []
        for campaign, some in group_by(results, "campaign").items():
            found = abilities(some)
            rows = [(system, mean, deviation) for system, (mean, deviation) in found.items()]
            columns = ("system", "ability", "deviation")
            tables.append(ResultTable(title=f"{campaign}: abilities", columns=columns, rows=tuple(rows)))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw abilities with one deviation, and preferences between systems, one row per campaign."""
        campaigns = group_by(results, "campaign")
        figure.set_size_inches(10.0, 0.9 * len(campaigns) + sum(0.28 * len(abilities(s)) for s in campaigns.values()))
        panels = figure.subplots(len(campaigns), 2, squeeze=False)
        for (left, right), (campaign, some) in zip(panels, campaigns.items(), strict=True):
            found = abilities(some)
            names = short_names(list(found))
            means, deviations = np.array(list(found.values())).T
            left.errorbar(means, range(len(found)), xerr=deviations, fmt="o", color=BLUE, capsize=2, markersize=4)
            left.set_yticks(range(len(found)), [names[system] for system in found], parse_math=False)
            left.set_ylim(len(found) - 0.5, -0.5)
            left.tick_params(axis="y", length=0)
            left.grid(color=GREY, alpha=0.2)
            left.set_title(campaign, parse_math=False)
            left.set_xlabel(f"ability above the average ± one deviation over {len(some)} training sets")
            draw_heat_map(right, _preferred(some, list(found)))
            right.set_title("Row preferred to column, in percent")


def abilities(results: Sequence[Result]) -> dict[str, tuple[float, float]]:
    """Return each system's mean and standard deviation over training sets, relative to the average, best first."""
    systems, means = results[0].measured["systems"], np.array([one.measured["ability"] for one in results])
    means -= means.mean(axis=1, keepdims=True)
    mean, deviation = means.mean(axis=0), means.std(axis=0, ddof=1) if len(means) > 1 else np.zeros(len(systems))
    return {systems[k]: (float(mean[k]), float(deviation[k])) for k in np.argsort(-mean, kind="stable")}


def _preferred(results: Sequence[Result], order: Sequence[str]) -> Floats:
    place = [results[0].measured["systems"].index(system) for system in order]
    mean: Floats = np.mean([one.measured["decided"] for one in results], axis=0)[np.ix_(place, place)]
    np.fill_diagonal(mean, np.nan)
    return mean
