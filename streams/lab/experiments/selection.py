"""Which pairs a match policy requests, early and late, and how much its choice helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from streams.core.matching import find_policy
from streams.core.methods import Fitted
from streams.core.methods.win_shares import ExpectedWins
from streams.core.methods.wmt import DEVIATION, MEAN
from streams.core.models import create
from streams.lab.measures.correlation import kendall
from streams.lab.measures.prediction import accuracy
from streams.lab.protocols.asking import ask
from streams.lab.protocols.drawing import hold_out
from streams.lab.protocols.gold import official_order
from streams.lab.protocols.learners import printed_settings
from streams.lab.protocols.radius import tune_radius
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Result, Size
from streams.lab.running.figures import COLOURS, Line, draw_lines, heat_map
from streams.lab.running.tables import Estimate, ResultTable, estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from streams.core.models.base import Ints, Model
    from streams.lab.running.log import Log

Profile = Literal["wmt", "online", "printed"]
PART = 5  # early is the first of this many equal parts of the matches, late is the last
NEAR = 2  # ranks apart
MAPPED = 10  # repeats that keep their meetings; the heat maps show the sum


class Selection(Experiment, frozen=True):
    """A policy requests matches, and the log answers with a random outcome of the pair that is not held out.

    Sakaguchi, Post and Van Durme (2014), section 5 and Figures 5 to 7. There, `variance` works with TrueSkill of the
    profile `wmt`. Compare it with `uniform` to see the value of its choice: accuracy as in `prediction`, and Kendall's
    tau with the order by Expected Wins of the whole log. The profile `printed` is `wmt` with beta and margin as the
    paper prints them.
    """

    name: ClassVar[str] = "selection"
    title: ClassVar[str] = "Which pairs are requested, early and late, and how much that helps"
    reference: ClassVar[str] = "Sakaguchi et al. 2014, Figures 5 to 7"

    sizes: tuple[Size, ...] = (400, 1600, 6400)
    policies: tuple[str, ...] = ("uniform", "variance", "information")
    profiles: tuple[Profile, ...] = ("wmt", "online")
    researchers: str = "researcher*"
    held_out: Size = 2000

    def cells(self, log: Log) -> list[Cell]:
        """Return the cells, with one more per campaign for the pairs of the log itself."""
        for name in self.policies:
            find_policy(name)
        found: list[Cell] = []
        for name in log.campaigns:
            found.append({"campaign": name, "repeat": 0, "policy": "log", "seed": self.seed})
            found += [
                {
                    "campaign": name,
                    "repeat": repeat,
                    "policy": asks,
                    "profile": profile,
                    "size": size,
                    "seed": self.seed,
                    "researchers": self.researchers,
                    "held_out": self.held_out,
                }
                for profile in self.profiles
                for asks in self.policies
                for size in self.sizes
                for repeat in range(self.repeats)
            ]
        return found

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Request matches, and count meetings in the first and the last fifth, with systems in the log's order."""
        rankings = log.campaigns[cell["campaign"]]
        order = official_order(rankings)
        if cell["policy"] == "log":
            met = _meetings(rankings.pairs.a, rankings.pairs.b, order)
            return {"systems": [rankings.systems[k] for k in order], "all": met}
        key = (cell["seed"], cell["repeat"], cell["campaign"])
        held = hold_out(rankings, cell["researchers"], cell["held_out"], key)
        model = _trueskill(cell["profile"], cell["size"])
        random = random_generator(*key, cell["size"], "asking")
        asked = ask(find_policy(cell["policy"]), model, held.pool, cell["size"], random)
        mean, deviation = model.scores()
        fitted = Fitted(outcomes=np.zeros((len(mean), len(mean), 3)), scores=mean, deviations=deviation)
        best = tune_radius(fitted, held.development, measure="accuracy").fitted
        gold = ExpectedWins().score(*rankings.pairs.counts())
        part = max(1, cell["size"] // PART)
        early, late = (_meetings(asked.a[rows], asked.b[rows], order) for rows in (slice(part), slice(-part, None)))
        return {
            "accuracy": accuracy(best.probabilities(held.test), held.test.outcome),
            "tau": kendall(mean, gold),
            "near_early": _near(early),
            "near_late": _near(late),
            "spread": float(np.ptp(mean)),
        } | ({"early": early, "late": late} if cell["repeat"] < MAPPED else {})

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return the results of each policy, and the share of its matches between neighbours."""
        whole = next(one for one in results if one.cell["policy"] == "log")
        rows: list[tuple[Any, ...]] = [("the log itself", "", "", None, None, _near(whole.measured["all"]), None)]
        asked = [one for one in results if one.cell["policy"] != "log"]
        for (profile, asks, size), group in group_by(asked, "profile", "policy", "size").items():
            values = [
                Estimate.of(one.measured[name] for one in group)
                for name in ("accuracy", "tau", "near_early", "near_late")
            ]
            rows.append((asks, profile, size, *values))
        columns = ("policy", "TrueSkill", "matches", "accuracy", "Kendall's tau", "of neighbours, early", "late")
        return [
            ResultTable(
                title=f"Requested matches; neighbours are {NEAR} ranks apart or less",
                columns=columns,
                rows=tuple(rows),
                labels=2,
            )
        ]

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw heat maps of the log and of `variance`, as in the paper, and tau by size."""
        figure.set_size_inches(14.0, 4.0)
        panels = figure.subplots(1, 4, width_ratios=[1, 1, 1, 1.05])
        whole = next(one for one in results if one.cell["policy"] == "log")
        asked = [one for one in results if one.cell["policy"] != "log"]
        shown = "variance" if "variance" in group_by(asked, "policy") else asked[0].cell["policy"]
        wanted = (shown, asked[0].cell["profile"], max(one.cell["size"] for one in asked))
        chosen = next(group for about, group in group_by(asked, "policy", "profile", "size").items() if about == wanted)
        first = whole.cell["campaign"]  # the maps show one campaign
        chosen = [one for one in chosen if "early" in one.measured and one.cell["campaign"] == first]
        maps = [np.array(whole.measured["all"], float)]
        maps += [np.sum([one.measured[name] for one in chosen], axis=0) for name in ("early", "late")]
        titles = ("All judgments of the log", f"First fifth requested by {shown}", f"Last fifth requested by {shown}")
        for axes, met, title in zip(panels, maps, titles, strict=False):
            heat_map(axes, met, title)
        lines = [
            Line(f"{asks}, {kind}", estimate_by(group, "tau", "size"), COLOURS[k % len(COLOURS)])
            for k, ((asks, kind), group) in enumerate(group_by(asked, "policy", "profile").items())
        ]
        panels[3].set_title("Kendall's tau with the whole log")
        draw_lines(panels[3], lines, marks=sorted({one.cell["size"] for one in asked}), label="matches")


def _trueskill(profile: Profile, size: int) -> Model:
    if profile != "printed":
        return create("trueskill", {"profile": profile}, budget=size)
    beta, margin = printed_settings(size)
    return create("trueskill", {"mean": MEAN, "deviation": DEVIATION, "beta": beta, "margin": margin})


def _meetings(a: Ints, b: Ints, order: Ints) -> list[list[int]]:
    size = len(order)
    place = np.empty(size, np.int64)
    place[order] = np.arange(size)
    met = np.zeros((size, size), np.int64)
    np.add.at(met, (place[a], place[b]), 1)
    both: list[list[int]] = (met + met.T).tolist()
    return both


def _near(met: list[list[int]]) -> float:
    """Return the share of matches between systems with near ranks."""
    table = np.array(met)
    apart = np.abs(np.subtract.outer(np.arange(len(table)), np.arange(len(table))))
    return float(table[apart <= NEAR].sum() / max(1, table.sum()))
