"""The official ranking: Table 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.papers import read_published
from reproduction.section import Section, fill_text
from reproduction.sections.sakaguchi.paper import KEY, WMT13
from reproduction.sections.wmt13 import cluster_numbers, names_in_log
from streams.lab.experiments import Result, ResultTable
from streams.reports.report import short_names
from streams.reports.score_axis import rank_range

if TYPE_CHECKING:
    from collections.abc import Sequence


def _ranges(results: Sequence[Result]) -> list[str]:
    ours = results[0].measured
    return [rank_range(low, high) for low, high in zip(ours["best"], ours["worst"], strict=True)]


def _ranking_tables(results: Sequence[Result]) -> list[ResultTable]:
    theirs, ours = read_published(KEY)["table1"], results[0].measured
    values = (
        *(theirs["systems"], theirs["scores"], ours["scores"], theirs["ranges"], _ranges(results)),
        *(cluster_numbers(theirs["ranges"]), ours["clusters"]),
    )
    columns = ("system", "Expected Wins, theirs", "ours", "range, theirs", "ours", "cluster, theirs", "ours")
    rows = tuple(zip(*values, strict=True))
    return [ResultTable(title="WMT13 French-English", columns=columns, rows=rows)]


def _ranking_text(results: Sequence[Result]) -> str:
    theirs, ours = read_published(KEY)["table1"], results[0].measured
    findings = read_published("findings2013")
    gaps = [abs(a - b) for a, b in zip(theirs["scores"], ours["scores"], strict=True)]
    far = max(range(len(gaps)), key=gaps.__getitem__)
    same = list(short_names(ours["systems"]).values()) == list(names_in_log())
    differ = [
        f"{name} ({told} there, {found} here)"
        for name, told, found in zip(theirs["systems"], theirs["ranges"], _ranges(results), strict=True)
        if told != found
    ]
    return fill_text(
        "ranking",
        comparisons=f"{findings['table2']['fr-en']['rankings']:,}",
        order="is the published one" if same else "differs from the published one",
        far=f"{gaps[far]:.3f}",
        system=theirs["systems"][far],
        printed=f"{theirs['scores'][far]:.3f}",
        findings=f"{findings['table6']['scores'][far]:.3f}",
        runs=f"{results[0].cell['runs']:,}",
        clusters=str(ours["clusters"][-1]),
        official=str(read_published(KEY)["figure8"]["official_clusters"]),
        differ=f"differ for {', '.join(differ)}" if differ else "are the same for every system",
    )


SECTION = Section(
    name="ranking",
    title="The official ranking (Table 1)",
    paper=KEY,
    experiment="ranking",
    file=WMT13,
    tables=_ranking_tables,
    text=_ranking_text,
    caption="Rank ranges by Expected Wins, with lines between clusters",
)
