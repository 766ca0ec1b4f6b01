"""Judges who answer at random: Table 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.section import Section, fill_text, format_signed, paired_difference, read_published, verdict
from reproduction.sections.otani.paper import KEY, WMT13
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.experiments.noise import EVERY_SIZE, average_baselines, average_sizes
from streams.lab.running.tables import estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


def _noise_tables(results: Sequence[Result]) -> list[ResultTable]:
    tables = []
    ours = average_baselines(results)
    for measure, title in (("pearson", "Correlation"), ("ndcg", "nDCG")):
        theirs = read_published(KEY)["table1"][measure]
        shares = read_published(KEY)["table1"]["shares"]
        rows: list[tuple[Any, ...]] = []
        base = np.array(theirs["grm"])
        for model, name in (
            ("grm", "GRM"),
            ("hopkins-may", "Hopkins and May"),
            ("expected-wins", "Expected Wins"),
        ):
            values = base if model == "grm" else base + np.array(theirs[model])
            rows.append((EVERY_SIZE, f"{name}, theirs (Spanish-English)", *map(float, values)))
        for size, group in ((EVERY_SIZE, average_sizes(ours)), *group_by(ours, "size").items()):
            for model, some in group_by(group, "model").items():
                found = estimate_by(some, measure, "noise")
                rows.append((size, f"`{model}`, ours", *(found.get(share) for share in shares)))
        columns = ("pairs", "random judges", *(f"{share:.0%}" for share in shares))
        tables.append(ResultTable(title=title, columns=columns, rows=tuple(rows), labels=2))
    return tables


def _noise_text(results: Sequence[Result]) -> str:
    by_model = group_by(average_sizes(average_baselines(results)), "model")
    most = max(one.cell["noise"] for one in results)

    def lost(model: str) -> Estimate:
        noisy, clean = ([one for one in by_model[model] if one.cell["noise"] == share] for share in (most, 0.0))
        return paired_difference(clean, noisy, "pearson")

    def ahead(model: str, other: str) -> Estimate:
        first, second = ([one for one in by_model[name] if one.cell["noise"] == most] for name in (model, other))
        return paired_difference(first, second, "pearson")

    losses = {model: lost(model).text() for model in by_model}
    gap = ahead("grm", "expected-wins")
    aware = ahead("trueskill-judges", "trueskill")
    said = {"yes": "is above", "no": "is below", "not significant": "does not differ significantly from"}[verdict(gap)]
    return fill_text(
        "noise",
        most=f"{most:.0%}",
        grm=losses["grm"],
        hopkins_may=losses["hopkins-may"],
        wins=losses["expected-wins"],
        said=said,
        gap=format_signed(gap),
        aware=format_signed(aware),
    )


SECTION = Section(
    name="noise",
    title="Judges who answer at random (Table 1)",
    paper=KEY,
    experiment="noise",
    file=WMT13,
    options={
        "repeats": 30,
        "models": [
            *("grm", "hopkins-may", "expected-wins"),
            *("trueskill", "trueskill-judges", "crowd-bt"),
        ],
    },
    tables=_noise_tables,
    text=_noise_text,
    caption="Correlation and nDCG by the share of judges who answer at random",
)
