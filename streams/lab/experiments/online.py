"""Prediction of every judgment by the online models before they learn from it, and its calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from streams.core.methods.pairs import TIE
from streams.core.models import MODELS, create
from streams.errors import ParameterError, suggestion
from streams.lab.measures.calibration import Reliability, reliability
from streams.lab.measures.prediction import accuracy, log_loss
from streams.lab.protocols.prequential import predict_ranking_by_ranking
from streams.lab.running.base import Cell, Experiment, Repeats, Result
from streams.lab.running.figures import COLOURS
from streams.lab.running.tables import Estimate, ResultTable, group_by
from streams.reports.canvas import GREY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.core.methods.rankings import Rankings
    from streams.core.models.base import Floats
    from streams.lab.running.log import Log

# Model and parameters by name. The budget is the number of pairs of the campaign, as in the official procedure.
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "trueskill": ("trueskill", {}),
    "trueskill-wmt": ("trueskill", {"profile": "wmt"}),
    **{name: (name, {}) for name, model in MODELS.items() if model.kind == "rankings"},
}
TIES = "ties-so-far"  # predicts only from the share of ties so far
DEFAULT = "trueskill"  # the default model of a campaign
BINS = 20
SEEN = 0.002  # a bin with a smaller share of all predictions is not drawn


class OnlinePrediction(Experiment, frozen=True):
    """Prequential log-loss, accuracy and calibration (Dawid 1984) of the online models on every campaign of a log.

    All pairs of a ranking are predicted before the model learns from it. Uniform predictions have a loss of log 3 =
    1.0986. `ties-so-far` uses only the share of ties so far. There is one pass and no repeats.
    """

    name: ClassVar[str] = "online"
    title: ClassVar[str] = "Log-loss, accuracy and calibration of the online models, each judgment predicted before it"
    reference: ClassVar[str] = "Dawid 1984; the defaults of this product"

    repeats: Repeats = 1
    models: tuple[str, ...] = (TIES, *VARIANTS)

    def cells(self, log: Log) -> list[Cell]:
        """Return one cell per campaign and model."""
        for model in self.models:
            if model not in (TIES, *VARIANTS):
                raise ParameterError(f"no online model {model!r}; {suggestion(model, (TIES, *VARIANTS))}")
        return [{"campaign": name, "model": model} for name in log.campaigns for model in self.models]

    def measure(self, log: Log, cell: Cell) -> dict[str, Any]:
        """Predict and learn in one pass over the log."""
        rankings = log.campaigns[cell["campaign"]]
        outcome = rankings.pairs.outcome
        held = predict_before(cell["model"], rankings)
        bins = reliability(held, outcome, bins=BINS)
        order = order_only(held[outcome != TIE])
        decided = outcome[outcome != TIE]
        return {
            "pairs": len(outcome),
            "log_loss": log_loss(held, outcome),
            "accuracy": accuracy(held, outcome),
            "order_loss": log_loss(order, decided) if len(decided) else None,
            "order_accuracy": accuracy(order, decided) if len(decided) else None,
            "calibration": bins.error,
            "counts": bins.counts.tolist(),
            # JSON has no NaN, so an empty bin has 0.
            "predicted": np.where(bins.counts > 0, bins.predicted, 0.0).tolist(),
            "observed": np.where(bins.counts > 0, bins.observed, 0.0).tolist(),
        }

    def tables(self, results: Sequence[Result]) -> list[ResultTable]:
        """Return each measure by campaign, then the means and the differences to the default model."""
        tables = [
            _by_campaign(results, "log_loss", "Log-loss, in nats", digits=4),
            _by_campaign(results, "accuracy", "Accuracy"),
            _by_campaign(results, "order_loss", "Log-loss of who wins, where there was no tie", digits=4),
            _by_campaign(results, "calibration", "Expected calibration error", digits=4),
        ]
        return [*tables, summary(results)]

    def plot(self, results: Sequence[Result], figure: Figure) -> None:
        """Draw the calibration, and how much better each model is than the share of ties alone."""
        figure.set_size_inches(11.0, max(4.4, 1.4 + 0.22 * len(group_by(results, "campaign"))))
        left, right = figure.subplots(1, 2)
        _draw_calibration(left, results)
        _draw_losses(right, results)


def predict_before(model: str, rankings: Rankings) -> Floats:
    """Return what a model predicted for the pairs of each ranking before it learned from it."""
    if model != TIES:
        name, parameters = VARIANTS[model]
        return predict_ranking_by_ranking(create(name, parameters, budget=len(rankings.pairs)), rankings)
    tied = np.cumsum(rankings.pairs.outcome == TIE)
    before = np.searchsorted(rankings.number, rankings.number)  # the number of pairs before this ranking
    ties = np.where(before > 0, tied[np.maximum(before - 1, 0)], 0)
    tie = (ties + 1.0) / (before + 3.0)
    return np.stack([0.5 * (1.0 - tie), tie, 0.5 * (1.0 - tie)], axis=1)


def order_only(held: Floats) -> Floats:
    """Return the probabilities of a win and a loss, given that there is no tie.

    >>> order_only(np.array([[0.3, 0.4, 0.1]])).round(2).tolist()
    [[0.75, 0.0, 0.25]]
    """
    either = held[:, [0, 2]] / held[:, [0, 2]].sum(axis=1, keepdims=True)
    return np.stack([either[:, 0], np.zeros(len(held)), either[:, 1]], axis=1)


def pool_bins(results: Sequence[Result]) -> Reliability:
    """Return the combined bins of several campaigns."""
    counts, predicted, observed = (
        np.array([one.measured[name] for one in results], np.float64) for name in ("counts", "predicted", "observed")
    )
    total = counts.sum(axis=0)
    means = [
        np.divide((counts * values).sum(axis=0), total, out=np.full(len(total), np.nan), where=total > 0)
        for values in (predicted, observed)
    ]
    return Reliability(counts=total.astype(np.int64), predicted=means[0], observed=means[1])


def summary(results: Sequence[Result]) -> ResultTable:
    """Return one row per model: means over campaigns, and the difference of its losses to the default model."""
    models = group_by(results, "model")
    rows = []
    for model, some in models.items():
        right, order = (
            Estimate.of(_measure_by_campaign(some, name).values()).mean for name in ("accuracy", "order_accuracy")
        )
        losses = [cell for name in ("log_loss", "order_loss") for cell in _losses(models, model, name)]
        rows.append((model, *losses[:2], right, pool_bins(some).error, *losses[2:], order))
    columns = (
        *("model", "log-loss", f"above `{DEFAULT}`", "accuracy", "calibration error"),
        *("log-loss without ties", f"above `{DEFAULT}` ", "accuracy without ties"),
    )
    return ResultTable(title="Means over campaigns", columns=columns, rows=tuple(rows), digits=4)


def _losses(models: Mapping[str, Sequence[Result]], model: str, name: str) -> tuple[float | None, Estimate | None]:
    own = _measure_by_campaign(models[model], name)
    other = _measure_by_campaign(models.get(DEFAULT, ()), name)
    gaps = [own[campaign] - other[campaign] for campaign in own if campaign in other]
    return Estimate.of(own.values()).mean, Estimate.of(gaps) if gaps and model != DEFAULT else None


def _measure_by_campaign(results: Sequence[Result], name: str) -> dict[str, float]:
    """Return a measure by campaign, without campaigns that lack it."""
    return {one.cell["campaign"]: one.measured[name] for one in results if one.measured[name] is not None}


def _by_campaign(results: Sequence[Result], name: str, title: str, *, digits: int = 3) -> ResultTable:
    models = list(group_by(results, "model"))
    rows = []
    for campaign, some in group_by(results, "campaign").items():
        by_model = {one.cell["model"]: one.measured[name] for one in some}
        rows.append((campaign, some[0].measured["pairs"], *(by_model[model] for model in models)))
    return ResultTable(title=title, columns=("campaign", "pairs", *models), rows=tuple(rows), digits=digits)


def _draw_calibration(axes: Axes, results: Sequence[Result]) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    for colour, (model, some) in zip(COLOURS, group_by(results, "model").items(), strict=False):
        bins = pool_bins(some)
        filled = bins.counts >= SEEN * bins.counts.sum()
        label = f"{model}: error {bins.error:.3f}"
        axes.plot(
            bins.predicted[filled], bins.observed[filled], "o-", color=colour, markersize=3, linewidth=1, label=label
        )
    axes.set_xlabel("predicted probability")
    axes.set_ylabel("observed share")
    axes.set_title("Calibration of wins, ties and losses")
    axes.legend(fontsize=7.5, loc="upper left", frameon=False)
    axes.grid(color=GREY, alpha=0.2)


def _draw_losses(axes: Axes, results: Sequence[Result]) -> None:
    """Draw one row per campaign. Further right is better."""
    campaigns = group_by(results, "campaign")
    models = [model for model in group_by(results, "model") if model != TIES]
    colours = dict(zip(group_by(results, "model"), COLOURS, strict=False))
    for place, some in enumerate(campaigns.values()):
        losses = {one.cell["model"]: one.measured["log_loss"] for one in some}
        base = losses.get(TIES, float(np.log(3.0)))
        for model in models:
            axes.plot(base - losses[model], place, "o", color=colours[model], markersize=4, alpha=0.85)
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.set_yticks(range(len(campaigns)), list(campaigns), parse_math=False, fontsize=7.5)
    axes.set_ylim(len(campaigns) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(color=GREY, alpha=0.2)
    axes.set_xlabel("nats per comparison gained over the share of ties")
    axes.set_title("Information in the ratings")
