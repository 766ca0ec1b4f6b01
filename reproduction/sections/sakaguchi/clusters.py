"""Clusters by the amount of data: Figures 8 to 10."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.section import Section, fill_text
from reproduction.sections.sakaguchi.paper import HOPKINS_MAY, KEY, WINS, WMT13
from streams.lab.experiments import Estimate, Result
from streams.lab.experiments.clusters import Clusters
from streams.lab.protocols.learners import SELECTS
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


def _clusters_text(results: Sequence[Result]) -> str:
    large = max(one.cell["size"] for one in results)
    by_model = group_by([one for one in results if one.cell["size"] == large], "model")
    found = {model: Estimate.of(one.measured["clusters"] for one in some).text(1) for model, some in by_model.items()}
    runs = results[0].cell["runs"]
    return fill_text(
        "clusters",
        large=f"{large:,}",
        trueskill=found[SELECTS],
        hopkins_may=found[HOPKINS_MAY],
        wins=found[WINS],
        runs=str(runs),
        dropped=str(-(-runs // 40)),
    )


SECTION = Section(
    name="clusters",
    title="Clusters by the amount of data (Figures 8 to 10)",
    paper=KEY,
    experiment="clusters",
    file=WMT13,
    options={"repeats": 3},
    tables=lambda results: Clusters().tables(results),
    text=_clusters_text,
    caption="Clusters by training pairs, and the ranks of the systems over runs with 1,000 and 25,000 pairs",
)
