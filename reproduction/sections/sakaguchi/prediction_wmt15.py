"""Accuracy and perplexity by training size on WMT15."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.section import Section, fill_text, format_signed, paired_difference
from reproduction.sections.sakaguchi.paper import HOPKINS_MAY, KEY, ONLINE, THEIR_SAMPLER, WINS, WMT15
from reproduction.sections.sakaguchi.prediction import order_table
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.protocols.learners import SELECTS
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


def _wmt15_tables(results: Sequence[Result]) -> list[ResultTable]:
    rows = []
    for size, group in group_by(results, "size").items():
        by_model = group_by(group, "model")
        values = [
            Estimate.of(one.measured["accuracy"] for one in by_model[name])
            for name in (WINS, HOPKINS_MAY, THEIR_SAMPLER, SELECTS, ONLINE)
        ]
        rows.append((size, *values))
    columns = (
        *("pairs", "Expected Wins", "Hopkins and May", "Hopkins and May, their sampler"),
        *("TrueSkill", "`trueskill` of this project"),
    )
    return [
        ResultTable(title="Accuracy on WMT15, the mean of ten language pairs", columns=columns, rows=tuple(rows)),
        order_table(results, published_too=False),
    ]


def _wmt15_text(results: Sequence[Result]) -> str:
    campaigns = {one.cell["campaign"] for one in results}
    small = min(one.cell["size"] for one in results)
    by_model = group_by([one for one in results if one.cell["size"] == small], "model")
    first = paired_difference(by_model[HOPKINS_MAY], by_model[WINS], "accuracy")
    second = paired_difference(by_model[SELECTS], by_model[HOPKINS_MAY], "accuracy")
    return fill_text(
        "prediction-wmt15",
        campaigns=str(len(campaigns)),
        small=str(small),
        first=format_signed(first),
        second=format_signed(second),
    )


SECTION = Section(
    name="prediction-wmt15",
    title="Accuracy on the ten language pairs of WMT15",
    paper=KEY,
    experiment="prediction",
    file=WMT15,
    shared_ties=False,
    options={"repeats": 6},
    tables=_wmt15_tables,
    text=_wmt15_text,
    caption="Accuracy and perplexity on WMT15, by training size; errors within repeats",
)
