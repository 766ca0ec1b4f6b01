"""Correlation and nDCG with the gold scores: Figure 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.section import Section, fill_text, format_signed, paired_difference
from reproduction.sections.otani.paper import KEY, WMT13
from streams.lab.experiments.correlation import ANY, Correlation, short_baselines
from streams.lab.protocols.learners import SELECTS
from streams.lab.running.tables import estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.experiments import Result


def _correlation_text(results: Sequence[Result]) -> str:
    large = max(one.cell["size"] for one in results)
    at_large = [one for one in results if one.cell["size"] == large]
    groups = {
        about: estimate_by(some, "pearson", "size")[large]
        for about, some in group_by(at_large, "model", "baseline").items()
    }
    free = {model: found.text() for (model, baseline), found in groups.items() if baseline == ANY}
    batch = {baseline: found for (model, baseline), found in groups.items() if model == "grm-batch"}
    names = short_baselines(results)
    best, worst = max(batch, key=lambda name: batch[name].mean), min(batch, key=lambda name: batch[name].mean)
    by_baseline = group_by([one for one in at_large if one.cell["model"] == "grm-batch"], "baseline")
    return fill_text(
        "correlation",
        large=f"{large:,}",
        trueskill=free[SELECTS],
        hopkins_may=free["hopkins-may"],
        wins=free["expected-wins"],
        best=batch[best].text(),
        best_name=names[best],
        worst=batch[worst].text(),
        worst_name=names[worst],
        gap=format_signed(paired_difference(by_baseline[best], by_baseline[worst], "pearson"), 3),
    )


SECTION = Section(
    name="correlation",
    title="Correlation and nDCG with the gold scores (Figure 3)",
    paper=KEY,
    experiment="correlation",
    file=WMT13,
    options={"repeats": 8},
    tables=lambda results: Correlation().tables(results),
    text=_correlation_text,
    caption="Correlation and nDCG by comparisons; dashed: the worst of three baselines",
)
