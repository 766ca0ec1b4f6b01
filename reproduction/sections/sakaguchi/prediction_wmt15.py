"""Accuracy and perplexity by training size on WMT15."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.papers import read_published
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.sakaguchi.paper import HOPKINS_MAY, KEY, NAMES, ONLINE, THEIR_SAMPLER, WINS, WMT15, claim
from reproduction.sections.sakaguchi.prediction import PRINTED_AS, order_table
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.protocols.learners import SELECTS
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Claim


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
        *("pairs", "Expected Wins", "Hopkins and May, exact posterior", "their sampler"),
        *("TrueSkill", "`trueskill` of this project"),
    )
    return [
        ResultTable(title="Accuracy on WMT15, the mean of ten language pairs", columns=columns, rows=tuple(rows)),
        order_table(results, published_too=False),
    ]


def _wmt15_claims(results: Sequence[Result]) -> list[Claim]:
    theirs = read_published(KEY)["table2"]
    small = theirs["sizes"][0]
    by_model = group_by([one for one in results if one.cell["size"] == small], "model")
    return [
        claim(
            "accuracy",
            f"accuracy of TrueSkill minus {NAMES[worse]}, {small:,} pairs, WMT15",
            "above",
            paired_difference(by_model[SELECTS], by_model[worse], "accuracy"),
            theirs=theirs["all"][SELECTS][0] - theirs["all"][PRINTED_AS.get(worse, worse)][0],
            digits=4,
        )
        for worse in (THEIR_SAMPLER, WINS)
    ]


def _wmt15_text(results: Sequence[Result]) -> str:
    campaigns = {one.cell["campaign"] for one in results}
    return fill_text("prediction-wmt15", campaigns=str(len(campaigns)), repeats=str(len(group_by(results, "repeat"))))


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
    claims=_wmt15_claims,
    caption="Accuracy and perplexity on WMT15, by training size; errors within repeats",
)
