"""Judges who answer at random: the online model beside the batch one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.claims import describe
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.otani.paper import KEY, WMT13
from streams.lab.experiments import Result, ResultTable
from streams.lab.experiments.noise import EVERY_SIZE, average_baselines, average_sizes
from streams.lab.running.tables import estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


def _batch_tables(results: Sequence[Result]) -> list[ResultTable]:
    ours = average_baselines(results)
    shares = sorted({one.cell["noise"] for one in results})
    rows: list[tuple[Any, ...]] = []
    for size, group in ((EVERY_SIZE, average_sizes(ours)), *group_by(ours, "size").items()):
        for model, some in group_by(group, "model").items():
            found = estimate_by(some, "pearson", "noise")
            rows.append((size, f"`{model}`", *(found[share] for share in shares)))
    columns = ("comparisons", "random judges", *(f"{share:.0%}" for share in shares))
    return [ResultTable(title="Correlation, mean of three baselines", columns=columns, rows=tuple(rows), labels=2)]


def _batch_text(results: Sequence[Result]) -> str:
    most = max(one.cell["noise"] for one in results)
    apart = {}
    for share, group in group_by(average_sizes(average_baselines(results)), "noise").items():
        by_model = group_by(group, "model")
        apart[share] = describe(paired_difference(by_model["grm"], by_model["grm-batch"], "pearson"), 3)
    return fill_text(
        "noise-batch",
        clean=apart[0.0],
        noisy=apart[most],
        most=f"{most:.0%}",
        repeats=str(len(group_by(results, "repeat"))),
    )


SECTION = Section(
    name="noise-batch",
    title="Random judges: online and batch GRM",
    paper=KEY,
    experiment="noise",
    file=WMT13,
    options={"repeats": 2, "models": ["grm-batch", "grm"], "baselines": 3, "shares": [0.0, 0.3, 0.5]},
    tables=_batch_tables,
    text=_batch_text,
)
