"""Item information: which segments separate which systems under the graded response model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.kernels.grm import item_informations
from streams.core.methods.baseline_choice import choose_baseline
from streams.core.methods.grm_batch import comparisons_with
from streams.core.methods.grm_fit import fit_graded_response
from streams.errors import ParameterError
from streams.lab.protocols.baselines import draw_with_baseline
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Result, Size
from streams.lab.running.figures import COLOURS, grid
from streams.lab.running.tables import Estimate, ResultTable, group_by
from streams.reports.canvas import GREY
from streams.reports.report import short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.core.models.base import Floats
    from streams.lab.running.log import Log


class Items(Experiment, frozen=True):
    """I_j(theta) = sum_c (P*'_(c-1) - P*'_c)² / (P*_(c-1) - P*_c), a = 1, from thresholds averaged over draws.

    Otani, Nakazawa, Kawahara and Kurohashi (2016), Figure 5. The segments are those with the most comparisons with
    the baseline. By default, the baseline is the system whose comparisons tell most.
    """

    name: ClassVar[str] = "items"
    title: ClassVar[str] = "Item information of segments"
    reference: ClassVar[str] = "Otani et al. 2016, Figure 5"
    needs: ClassVar[str] = "segments on which a baseline was compared several times"

    repeats: Annotated[int, Meta(ge=1, le=100_000)] = 5
    size: Size = 6400
    segments: Annotated[int, Meta(ge=2, le=1000)] = 40
    baseline: str = ""

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign and draw. A small log uses nine tenths of its comparisons."""
        found = []
        for name, rankings in log.campaigns.items():
            if self.baseline and self.baseline not in rankings.systems:
                raise ParameterError(f"{name}: the baseline {self.baseline!r} is not a system")
            best = rankings.systems[choose_baseline(*rankings.pairs.counts()).system]
            baseline = self.baseline or best
            index = rankings.systems.index(baseline)
            met = int(np.count_nonzero((rankings.pairs.a == index) | (rankings.pairs.b == index)))
            found += [
                {
                    "campaign": name,
                    "repeat": repeat,
                    "baseline": baseline,
                    "size": min(self.size, 9 * met // 10),
                    "segments": self.segments,
                    "seed": self.seed,
                }
                for repeat in range(self.repeats)
            ]
        return found

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Fit the batch model to a draw, and return the thresholds of the segments and theta of the systems."""
        rankings = log.campaigns[cell["campaign"]]
        baseline = rankings.systems.index(cell["baseline"])
        random = random_generator(cell["seed"], cell["repeat"], cell["campaign"], cell["size"])
        found = fit_graded_response(
            comparisons_with(draw_with_baseline(rankings, baseline, cell["size"], random), baseline)
        )
        held = (rankings.pairs.a == baseline) | (rankings.pairs.b == baseline)
        counts = np.bincount(rankings.pairs.segment[held], minlength=len(rankings.segments))
        most = np.argsort(-counts, kind="stable")[: cell["segments"]]
        known = np.tile([-0.5, 0.5], (len(rankings.segments), 1))  # the means of the prior
        known[: len(found.thresholds)] = found.thresholds
        theta = np.zeros(len(rankings.systems))
        theta[: len(found.theta)] = found.theta
        theta[baseline] = 0.0
        return {
            "names": [rankings.segments[k] for k in most],
            "comparisons": counts[most].tolist(),
            "thresholds": known[most].tolist(),
            "systems": list(rankings.systems),
            "theta": theta.tolist(),
        }

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return the segments on which the baseline is hardest and easiest to beat, and theta of the systems."""
        return [table for group in group_by(results, "campaign").values() for table in _tables(group)]

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw the information of every segment in grey, and of the hardest and the easiest in colour."""
        campaigns = group_by(results, "campaign")
        for axes, group in zip(grid(figure, len(campaigns), width=7.5, height=4.4), campaigns.values(), strict=True):
            _draw(axes, group)


def _tables(results: Sequence[Result]) -> list[ResultTable]:
    names, counts, thresholds = results[0].measured["names"], results[0].measured["comparisons"], _thresholds(results)
    order = np.argsort(-thresholds.mean(axis=(0, 2)))
    rows = []
    for k in [*order[:3], *order[-3:]]:
        low, high = (Estimate.of(thresholds[:, k, c]) for c in (0, 1))
        rows.append((names[k], counts[k], low, high, _peak(thresholds[:, k].mean(axis=0))))
    theta, systems = np.array([one.measured["theta"] for one in results]), results[0].measured["systems"]
    short, by_theta = short_names(systems), np.argsort(-theta.mean(axis=0))
    return [
        ResultTable(
            title=f"The segments hardest and easiest to beat {_baseline(results)} on, of {len(names)}",
            columns=("segment", "comparisons", "b1", "b2", "most information at theta"),
            rows=tuple(rows),
            digits=2,
        ),
        ResultTable(
            title="The systems",
            columns=("system", "theta"),
            rows=tuple((short[systems[k]], Estimate.of(theta[:, k])) for k in by_theta),
            digits=2,
        ),
    ]


def _draw(axes: Axes, results: Sequence[Result]) -> None:
    thresholds, names = _thresholds(results).mean(axis=0), results[0].measured["names"]
    reach = float(np.abs(thresholds).max()) + 1.5
    theta = np.linspace(-reach, reach, 201)
    for pair in thresholds:
        axes.plot(theta, information(theta, pair), color=GREY, linewidth=0.6, alpha=0.5)
    order = np.argsort(-thresholds.mean(axis=1))
    for k, colour, said, side in ((order[0], COLOURS[1], "hardest", 1), (order[-1], COLOURS[0], "easiest", -1)):
        curve = information(theta, thresholds[k])
        axes.plot(theta, curve, color=colour, linewidth=1.8)
        axes.annotate(
            f"segment {names[k]}:\n{said} to beat\nthe baseline on",
            (float(theta[np.argmax(curve)]) + 0.9 * side, float(curve.max())),
            ha="left" if side > 0 else "right",
            va="center",
            fontsize=8,
            color=colour,
            parse_math=False,
        )
    means = np.array([one.measured["theta"] for one in results]).mean(axis=0)
    axes.plot(means, np.zeros(len(means)), "|", color="black", markersize=12)
    axes.set_xlabel("theta; the marks are the systems")
    axes.set_ylabel("information")
    axes.set_title(f"Item information of segments against {_baseline(results)}")
    axes.margins(y=0.12)
    axes.set_ylim(bottom=-0.01)


def information(theta: Floats, thresholds: Floats) -> Floats:
    """Return the Fisher information about theta of a comparison on a segment by a judge with a = 1 (Samejima 1968).

    >>> information(np.zeros(1), np.array([-0.5, 0.5])).round(4).tolist()
    [0.2926]
    """
    row = np.array([[thresholds.mean(), 0.0, np.log(thresholds[1] - thresholds[0]), 0.0]])
    return np.array([item_informations(row, float(each), True, 1.0)[0] for each in theta])


def _thresholds(results: Sequence[Result]) -> Floats:
    return np.array([one.measured["thresholds"] for one in results])


def _peak(thresholds: Floats) -> float:
    theta = np.linspace(-8.0, 8.0, 3201)
    return float(theta[np.argmax(information(theta, thresholds))])


def _baseline(results: Sequence[Result]) -> str:
    return short_names(results[0].measured["systems"])[results[0].cell["baseline"]]
