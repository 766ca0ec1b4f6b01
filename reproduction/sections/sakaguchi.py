"""Sakaguchi, Post and Van Durme (2014): TrueSkill for WMT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.section import Section, published
from streams.lab.experiments import Estimate, Result, Table
from streams.lab.experiments.tables import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

PAPER = "Sakaguchi, Post and Van Durme (2014)"
NOT_SHOWN = (
    "Tables 2 to 4 and Figures 3 and 4 of the paper are means over the ten language pairs of WMT13; of these only "
    "French-English is in our data. Figures 1 and 2 draw the update functions and rest on no data."
)
LOG = "wmt13_fr-en_rank.csv.gz"


def _prediction_tables(results: Sequence[Result]) -> list[Table]:
    theirs = published("sakaguchi2014")["table2"]
    rows: list[tuple[Any, ...]] = []
    for (pool, size), group in grouped(results, "pool", "size").items():
        row: list[Any] = [pool, size]
        for model, some in grouped(group, "model").items():
            if model in theirs[pool]:
                row.append(theirs[pool][model][theirs["sizes"].index(size)])
            row.append(Estimate.of(one.measured["accuracy"] for one in some))
        rows.append(tuple(row))
    return [
        Table(
            title="Accuracy",
            columns=(
                "trained on",
                "pairs",
                "Expected Wins, theirs",
                "ours",
                "Hopkins and May, theirs",
                "ours",
                "TrueSkill that selects, theirs",
                "ours",
                "`trueskill` on a random draw, ours",
            ),
            rows=tuple(rows),
            labels=2,
        )
    ]


def _prediction_text(results: Sequence[Result]) -> str:
    return f"{len(results)} cells."


SECTIONS = (
    Section(
        name="prediction",
        title="Accuracy and perplexity by training size (Table 2, Figures 3 and 4)",
        paper="sakaguchi2014",
        experiment="prediction",
        file=LOG,
        options={"repeats": 100},
        tables=_prediction_tables,
        text=_prediction_text,
        caption="Accuracy and perplexity by training size",
    ),
)
