"""The tables of the experiment `competitions`: estimates over campaigns, and differences within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.lab.running.tables import Estimate, ResultTable, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.running.base import Result

BEST = "hopkins-may"  # the best in the paper; others are compared with it


def models_of(results: Sequence[Result]) -> list[str]:
    """Return the names of the models in the order of the cells."""
    return list(dict.fromkeys(result.cell["model"] for result in results))


def _by_campaign(results: Sequence[Result]) -> dict[str, float]:
    """Return the mean over the repeats of each campaign."""
    return {result.cell["campaign"]: float(np.mean(result.measured["perplexity"])) for result in results}


def estimate(results: Sequence[Result]) -> Estimate:
    """Estimate perplexity over campaigns."""
    return Estimate.of(_by_campaign(results).values())


def difference(some: Sequence[Result], others: Sequence[Result]) -> Estimate:
    """Estimate the difference in perplexity within campaigns."""
    one, other = _by_campaign(some), _by_campaign(others)
    return Estimate.of(one[campaign] - other[campaign] for campaign in one if campaign in other)


def sizes(results: Sequence[Result]) -> ResultTable:
    """Return the sizes of the pools and of the test sets."""
    rows = tuple(
        (campaign, training, some[0].measured["pool"], some[0].measured["test"], some[0].measured["most"])
        for (campaign, training), some in group_by(results, "campaign", "training").items()
    )
    columns = ("campaign", "trained on", "training pairs", "test pairs", "most per segment")
    return ResultTable(title="Sizes of the data", columns=columns, rows=rows, labels=2)


def means(results: Sequence[Result], title: str) -> ResultTable:
    """Return perplexity by size and model."""
    models = models_of(results)
    rows = []
    for size, some in group_by(results, "size").items():
        by_model = group_by(some, "model")
        rows.append((size, *(estimate(by_model[model]) for model in models)))
    return ResultTable(title=title, columns=("pairs", *models), rows=tuple(rows))


def differences(results: Sequence[Result], title: str) -> ResultTable:
    """Return the difference of every model to the best of the paper, within campaigns."""
    models = [model for model in models_of(results) if model != BEST]
    rows = []
    for size, some in group_by(results, "size").items():
        by_model = group_by(some, "model")
        if BEST in by_model:
            best = by_model[BEST]
            rows.append((size, *(difference(by_model[model], best) for model in models)))
    return ResultTable(title=title, columns=("pairs", *models), rows=tuple(rows), digits=4)


def costs_of_crowd(results: Sequence[Result], title: str) -> ResultTable:
    """Return the cost of learning from the crowd for every model, within campaigns that have both pools."""
    models = models_of(results)
    rows = []
    for size, some in group_by(results, "size").items():
        pools = group_by(some, "model", "pool")
        if any(one.cell["pool"] == "crowd" for one in some):
            rows.append((size, *(difference(pools[model, "crowd"], pools[model, "own"]) for model in models)))
    return ResultTable(title=title, columns=("pairs", *models), rows=tuple(rows), digits=4)
