"""The choice of the baseline: Figure 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction.section import Section, fill_text
from reproduction.sections.otani.paper import KEY, WMT13, claim
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.experiments.correlation import short_baselines
from streams.lab.measures.correlation import pearson
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Claim


def _baseline_tables(results: Sequence[Result]) -> list[ResultTable]:
    names = short_baselines(results)
    rows = []
    for baseline, group in group_by(results, "baseline").items():
        by_model = group_by(group, "model")
        values = [
            Estimate.of(one.measured[measure] for one in by_model[model])
            for model in ("grm-batch", "grm")
            for measure in ("pearson", "ndcg")
        ]
        rows.append((names[baseline], group[0].measured["win_share"], *values))
    columns = ("baseline", "its Expected Wins", "GRM, batch: correlation", "nDCG", "`grm`, online: correlation", "nDCG")
    return [ResultTable(title="By baseline, from the best system to the worst", columns=columns, rows=tuple(rows))]


def _baseline_claims(results: Sequence[Result]) -> list[Claim]:
    found = []
    for model, name in (("grm-batch", "GRM"), ("grm", "online GRM")):
        group = [one for one in results if one.cell["model"] == model]
        by_baseline = group_by(group, "baseline")
        away = np.array([abs(some[0].measured["win_share"] - 0.5) for some in by_baseline.values()])
        for measure, what in (("pearson", "correlation"), ("ndcg", "nDCG")):
            reached = np.array([np.mean([one.measured[measure] for one in some]) for some in by_baseline.values()])
            r = pearson(away, reached)
            error = (1.0 - r * r) / (len(away) - 2) ** 0.5
            measured = f"r of a baseline's distance from the middle with the {what} of the {name}"
            found.append(claim("middle", measured, "below", Estimate(r, error, len(away)), digits=2))
    return found


def _baseline_text(results: Sequence[Result]) -> str:
    return fill_text(
        "baselines",
        baselines=str(len(group_by(results, "baseline"))),
        size=f"{results[0].cell['size']:,}",
        repeats=str(len(group_by(results, "repeat"))),
    )


SECTION = Section(
    name="baselines",
    title="The choice of the baseline (Figure 4)",
    paper=KEY,
    experiment="correlation",
    file=WMT13,
    options={"repeats": 2, "sizes": [6400], "models": ["grm-batch", "grm"], "baselines": 100},
    tables=_baseline_tables,
    text=_baseline_text,
    claims=_baseline_claims,
)
