"""Clusters by the amount of data: Figures 8 to 10."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction.papers import read_published
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.sakaguchi.paper import HOPKINS_MAY, KEY, NAMES, WINS, WMT13, claim
from streams.lab.experiments import Estimate, Result
from streams.lab.experiments.clusters import Clusters
from streams.lab.measures.correlation import kendall
from streams.lab.protocols.learners import PRINTED, SELECTS
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Claim


def _clusters_claims(results: Sequence[Result]) -> list[Claim]:
    sizes = sorted({one.cell["size"] for one in results})
    by_model = {model: group_by(some, "size") for model, some in group_by(results, "model").items()}
    found = [
        claim(
            "clusters",
            f"clusters of TrueSkill minus {NAMES[worse]}, {size:,} pairs",
            "above",
            paired_difference(by_model[SELECTS][size], by_model[worse][size], "clusters"),
            digits=1,
        )
        for worse in (HOPKINS_MAY, WINS)
        for size in sizes[-2:]
    ]
    official = read_published(KEY)["figure8"]["official_clusters"]
    at_most = by_model[SELECTS][sizes[-1]]
    found.append(
        claim(
            "nice-clusters",
            f"clusters of TrueSkill, {sizes[-1]:,} pairs, minus the {official} official ones",
            "equal",
            Estimate.of(one.measured["clusters"] - official for one in at_most),
            digits=1,
        )
    )
    taus = [_order_kept(few, many) for few, many in zip(by_model[SELECTS][sizes[0]], at_most, strict=True)]
    found.append(
        claim(
            "same-order",
            f"Kendall's tau of median ranks from {sizes[0]:,} and {sizes[-1]:,} pairs, minus 1",
            "equal",
            Estimate.of(tau - 1.0 for tau in taus),
        )
    )
    return found


def _order_kept(few: Result, many: Result) -> float:
    medians = [np.array([ranks[2] for ranks in one.measured["ranks"]]) for one in (few, many)]
    return kendall(*medians)


def _clusters_text(results: Sequence[Result]) -> str:
    runs = results[0].cell["runs"]
    figure = read_published(KEY)["figure8"]
    return fill_text(
        "clusters",
        runs=str(runs),
        dropped=str(-(-runs // 40)),
        repeats=str(len(group_by(results, "repeat"))),
        their_runs=str(figure["runs"]),
        their_dropped=str(figure["dropped"]),
        comparisons=f"{read_published('findings2013')['table2']['fr-en']['rankings']:,}",
    )


SECTION = Section(
    name="clusters",
    title="Clusters by the amount of data (Figures 8 to 10)",
    paper=KEY,
    experiment="clusters",
    file=WMT13,
    options={"repeats": 8, "models": [WINS, HOPKINS_MAY, PRINTED, SELECTS]},
    tables=lambda results: Clusters().tables(results),
    text=_clusters_text,
    claims=_clusters_claims,
    caption="Clusters by training pairs, and the ranks of the systems over runs with 1,000 and 25,000 pairs",
)
