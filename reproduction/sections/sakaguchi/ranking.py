"""The official ranking: Table 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.section import Section, fill_text, read_published
from reproduction.sections.sakaguchi.paper import KEY, WMT13
from streams.lab.experiments import Result, ResultTable

if TYPE_CHECKING:
    from collections.abc import Sequence


def _ranking_tables(results: Sequence[Result]) -> list[ResultTable]:
    theirs, ours = read_published(KEY)["table1"], results[0].measured
    ranges = [
        f"{low}-{high}" if low < high else str(low) for low, high in zip(ours["best"], ours["worst"], strict=True)
    ]
    rows = tuple(
        zip(
            theirs["systems"], theirs["scores"], ours["scores"], theirs["ranges"], ranges, ours["clusters"], strict=True
        )
    )
    columns = ("system", "Expected Wins, theirs", "ours", "range, theirs", "ours", "cluster")
    return [ResultTable(title="WMT13 French-English", columns=columns, rows=rows)]


def _ranking_text(results: Sequence[Result]) -> str:
    theirs, ours = read_published(KEY)["table1"], results[0].measured
    far = max(abs(a - b) for a, b in zip(theirs["scores"], ours["scores"], strict=True))
    return fill_text(
        "ranking",
        comparisons=f"{read_published(KEY)['figure8']['comparisons']:,}",
        far=f"{far:.3f}",
        runs=f"{results[0].cell['runs']:,}",
        clusters=str(ours["clusters"][-1]),
        official=str(read_published(KEY)["figure8"]["official_clusters"]),
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
