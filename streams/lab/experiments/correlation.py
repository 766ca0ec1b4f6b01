"""Correlation of scores from few judgments with those from all, with any pairs or with one baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.methods.win_shares import ExpectedWins
from streams.errors import ParameterError
from streams.lab.measures.correlation import ndcg, pearson
from streams.lab.protocols.baselines import WITH_BASELINE, draw_with_baseline, scores_with_baseline
from streams.lab.protocols.drawing import add_noise, draw_pairs
from streams.lab.protocols.gold import official_order, official_scores
from streams.lab.protocols.learners import PRINTED, SELECTS, check_learners, fit, learn
from streams.lab.protocols.randomness import random_generator
from streams.lab.running.base import Cell, Experiment, Result, Size
from streams.lab.running.figures import COLOURS, Line, draw_lines
from streams.lab.running.tables import ResultTable, estimate_by, group_by
from streams.reports.report import short_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.core.methods.rankings import Rankings
    from streams.core.models.base import Floats, Ints
    from streams.lab.running.log import Log

Share = Annotated[float, Meta(ge=0, le=1)]
ANY = "any pairs"
LONGEST = 14  # letters of a baseline's name in a figure


class Correlation(Experiment, frozen=True):
    """Pearson's correlation and nDCG with gold scores: those of the official procedure on the whole log.

    Otani, Nakazawa, Kawahara and Kurohashi (2016), Figures 3 and 4. The graded response models and the two-stage model
    learn from comparisons with one baseline, and are measured on the other systems. Baselines are taken at even steps
    down the ranking. The gain of a system in nDCG is its gold score minus the lowest one; the paper does not define it.
    """

    name: ClassVar[str] = "correlation"
    title: ClassVar[str] = "Correlation and nDCG with the scores of the whole log, by size and baseline"
    reference: ClassVar[str] = "Otani et al. 2016, Figures 3 and 4"
    needs: ClassVar[str] = "rankings of three systems or more, in which a baseline meets the others often"

    repeats: Annotated[int, Meta(ge=1, le=100_000)] = 3
    sizes: tuple[Size, ...] = (800, 1600, 3200, 6400)
    models: tuple[str, ...] = ("expected-wins", "hopkins-may", SELECTS, "two-stage", "grm-batch", "grm")
    baselines: Annotated[int, Meta(ge=1, le=1000)] = 3
    noise: Share = 0.0

    def cells(self, log: Log) -> list[Cell]:
        """Return the cells. Sizes above those of the log or the baseline are left out."""
        return correlation_cells(
            log,
            models=self.models,
            sizes=self.sizes,
            shares=(self.noise,),
            baselines=self.baselines,
            repeats=self.repeats,
            seed=self.seed,
        )

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Learn, and compare with the gold scores."""
        return measure_correlation(log, cell)

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return correlation and nDCG by model, baseline and size."""
        tables = []
        for measure, title in (("pearson", "Pearson's correlation"), ("ndcg", "nDCG")):
            sizes = sorted({one.cell["size"] for one in results})
            names, rows = short_baselines(results), []
            for (model, baseline), group in group_by(results, "model", "baseline").items():
                by_size = estimate_by(group, measure, "size")
                rows.append((model, names[baseline], *(by_size.get(size) for size in sizes)))
            columns = ("model", "baseline", *(f"{size:,}" for size in sizes))
            tables.append(ResultTable(title=title, columns=columns, rows=tuple(rows), labels=2))
        return tables

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw correlation and nDCG by size. A dashed line is the worst baseline at the largest size."""
        figure.set_size_inches(13.0, 4.6)
        left, right = figure.subplots(1, 2)
        for axes, measure, title in ((left, "pearson", "Pearson's correlation"), (right, "ndcg", "nDCG")):
            axes.set_title(f"{title} with the scores of the whole log")
            _draw(axes, results, measure)


def correlation_cells(
    log: Log,
    *,
    models: Sequence[str],
    sizes: Sequence[int],
    shares: Sequence[float],
    baselines: int,
    repeats: int,
    seed: int,
) -> list[Cell]:
    """Return a cell for each campaign, model, baseline (if the model has one), size, share of noise and repeat."""
    check_learners(tuple(name for name in models if name not in WITH_BASELINE))
    found: list[Cell] = []
    for name, rankings in log.campaigns.items():
        for model in models:
            for baseline, most in _baselines(rankings, model, baselines):
                found += [
                    {
                        "campaign": name,
                        "repeat": repeat,
                        "model": model,
                        "baseline": baseline,
                        "size": size,
                        "noise": noise,
                        "seed": seed,
                    }
                    for size in sizes
                    if size <= most
                    for noise in shares
                    for repeat in range(repeats)
                ]
    if not found:
        raise ParameterError(f"no campaign has {min(sizes):,} comparisons with a baseline; use smaller sizes")
    return found


def measure_correlation(log: Log, cell: Cell) -> dict[str, Any]:
    """Learn from comparisons, some judges answering at random, and return the correlation with gold scores."""
    rankings = log.campaigns[cell["campaign"]]
    random = random_generator(*(cell[name] for name in ("seed", "repeat", "campaign", "size", "baseline")))
    noise = random_generator(*(cell[name] for name in ("seed", "repeat", "campaign")), round(1000 * cell["noise"]))
    gold = official_scores(rankings)
    kept: Ints = np.arange(len(gold))
    if cell["baseline"] != ANY:
        baseline = rankings.systems.index(cell["baseline"])
        training = add_noise(draw_with_baseline(rankings, baseline, cell["size"], random), cell["noise"], noise)
        scores = scores_with_baseline(cell["model"], training, baseline)
        kept = np.delete(kept, baseline)
    else:
        scores = _scores(rankings, cell, random, noise)
    return {
        "pearson": pearson(scores[kept], gold[kept]),
        "ndcg": ndcg(scores[kept], (gold - gold.min())[kept]),
        "win_share": _win_share(rankings, cell["baseline"]),
    }


def _scores(rankings: Rankings, cell: Cell, random: np.random.Generator, noise: np.random.Generator) -> Floats:
    pool = add_noise(rankings.pairs, cell["noise"], noise)
    if cell["model"] in (SELECTS, PRINTED):
        fitted = learn(cell["model"], pool, cell["size"], random)
    else:
        fitted = fit(cell["model"], draw_pairs(pool, cell["size"], random), random)
    if fitted.scores is None:
        raise ParameterError(f"model {cell['model']!r} has no scores to correlate; choose another model")
    return fitted.scores


def _win_share(rankings: Rankings, baseline: str) -> float:
    """Return the Expected Wins of the baseline in the whole log, or 0.5 without a baseline."""
    if baseline == ANY:
        return 0.5
    return float(ExpectedWins().score(*rankings.pairs.counts())[rankings.systems.index(baseline)])


def _baselines(rankings: Rankings, model: str, count: int) -> list[tuple[str, int]]:
    """Return the baselines to try with a model, and the number of comparisons with each."""
    if model not in WITH_BASELINE:
        return [(ANY, len(rankings.pairs))]
    order, met = official_order(rankings), np.bincount(np.concatenate([rankings.pairs.a, rankings.pairs.b]))
    places = np.unique(np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(int))
    return [(rankings.systems[order[place]], int(met[order[place]])) for place in places]


def short_baselines(results: Sequence[Result]) -> Mapping[str, str]:
    """Return the shortened names of the baselines."""
    names = [name for name in dict.fromkeys(one.cell["baseline"] for one in results) if name != ANY]
    return {ANY: ANY} | dict(short_names(names))


def _draw(axes: Axes, results: Sequence[Result], measure: str) -> None:
    models, names = list(dict.fromkeys(one.cell["model"] for one in results)), short_baselines(results)
    lines = []
    for model, group in group_by(results, "model").items():
        colour = COLOURS[models.index(model) % len(COLOURS)]
        drawn_lines = [
            (baseline, estimate_by(some, measure, "size")) for baseline, some in group_by(group, "baseline").items()
        ]
        drawn_lines.sort(key=lambda line: -list(line[1].values())[-1].mean)
        for baseline, points in drawn_lines[:1] + drawn_lines[1:][-1:]:
            label = model if baseline == ANY else f"{model} ({names[baseline][:LONGEST]})"
            lines.append(Line(label, points, colour, "-" if baseline == drawn_lines[0][0] else "--"))
    draw_lines(axes, lines, marks=sorted({one.cell["size"] for one in results}), label="comparisons")
