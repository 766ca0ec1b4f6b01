"""The choice of the baseline: Figure 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction.section import SURE, Section, fill_text
from reproduction.sections.otani.paper import KEY, WMT13
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.experiments.correlation import short_baselines
from streams.lab.measures.correlation import pearson, spearman
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def _baseline_text(results: Sequence[Result]) -> str:
    found = {}
    for model, group in group_by(results, "model").items():
        by_baseline = group_by(group, "baseline")
        away = np.array([abs(some[0].measured["win_share"] - 0.5) for some in by_baseline.values()])
        reached = np.array([np.mean([one.measured["pearson"] for one in some]) for some in by_baseline.values()])
        found[model] = pearson(away, reached), spearman(away, reached)
    r = found["grm-batch"][0]
    sure = abs(r) > SURE * (1.0 - r * r) / (len(by_baseline) - 2) ** 0.5
    return fill_text(
        "baselines",
        baselines=str(len(by_baseline)),
        size=f"{results[0].cell['size']:,}",
        r=f"{r:.2f}",
        rho=f"{found['grm-batch'][1]:.2f}",
        online_r=f"{found['grm'][0]:.2f}",
        said="The further from the middle, the worse." if sure and r < 0 else "With so few baselines, this is weak.",
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
)
