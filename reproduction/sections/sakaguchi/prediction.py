"""Accuracy and perplexity by training size: Table 2, Figures 3 and 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.section import SURE, Section, fill_text, format_signed, paired_difference, read_published, verdict
from reproduction.sections.sakaguchi.paper import HOPKINS_MAY, KEY, ONLINE, THEIR_SAMPLER, WINS, WMT13
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.protocols.learners import SELECTS
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


def _prediction_tables(results: Sequence[Result]) -> list[ResultTable]:
    theirs = read_published(KEY)["table2"]
    kept = [one for one in results if one.cell["pool"] in theirs]
    rows: list[tuple[Any, ...]] = []
    for (pool, size), group in group_by(kept, "pool", "size").items():
        by_model = group_by(group, "model")
        row: list[Any] = [pool, size]
        for model in (WINS, HOPKINS_MAY, SELECTS):
            row.append(theirs[pool][model][theirs["sizes"].index(size)])
            row.append(Estimate.of(one.measured["accuracy"] for one in by_model[model]))
            if model == HOPKINS_MAY:
                row.append(Estimate.of(one.measured["accuracy"] for one in by_model[THEIR_SAMPLER]))
        rows.append((*row, Estimate.of(one.measured["accuracy"] for one in by_model[ONLINE])))
    columns = (
        *("trained on", "pairs", "Expected Wins, theirs", "ours"),
        *("Hopkins and May, theirs", "ours, exact posterior", "ours, their sampler"),
        *("TrueSkill, theirs", "ours", "`trueskill` of this project, ours"),
    )
    return [
        ResultTable(title="Accuracy", columns=columns, rows=tuple(rows), labels=2),
        order_table(results, published_too=True),
        _perplexity_table(kept),
        _leak_table(results),
    ]


def order_table(results: Sequence[Result], *, published_too: bool) -> ResultTable:
    """Return the differences of models in accuracy, within repeats."""
    theirs = read_published(KEY)["table2"]
    rows = []
    for size, group in group_by([one for one in results if one.cell["pool"] == "all"], "size").items():
        by_model = group_by(group, "model")
        row: list[Any] = [size]
        for better, worse in ((HOPKINS_MAY, WINS), (SELECTS, HOPKINS_MAY), (SELECTS, WINS), (ONLINE, WINS)):
            if published_too and better in theirs["all"]:
                place = theirs["sizes"].index(size)
                gap = theirs["all"][better][place] - theirs["all"][worse][place]
                row.append(format_signed(Estimate(gap, None, 1), 3))
            difference = paired_difference(by_model[better], by_model[worse], "accuracy")
            row.append(f"{format_signed(difference)}: {verdict(difference)}")
        rows.append(tuple(row))
    heads = ("Hopkins and May > Expected Wins", "TrueSkill > Hopkins and May", "TrueSkill > Expected Wins")
    told = [name for head in heads for name in ((f"{head}, theirs", "ours") if published_too else (head,))]
    columns = ("pairs", *told, "`trueskill` > Expected Wins")
    title = (
        f"Order of models by accuracy, within repeats, trained on all judges (yes or no: by {SURE:g} standard errors)"
    )
    return ResultTable(title=title, columns=columns, rows=tuple(rows))


def _perplexity_table(results: Sequence[Result]) -> ResultTable:
    rows: list[tuple[Any, ...]] = []
    for (pool, size), group in group_by(results, "pool", "size").items():
        by_model = group_by(group, "model")
        own = [
            Estimate.of(one.measured["perplexity"] for one in by_model[name]) for name in (HOPKINS_MAY, WINS, ONLINE)
        ]
        split = [
            Estimate.of(one.measured["carved_perplexity"] for one in by_model[name])
            for name in (HOPKINS_MAY, THEIR_SAMPLER, SELECTS)
        ]
        rows.append((pool, size, *split, *own))
    columns = (
        *("trained on", "pairs", "Hopkins and May, split", "their sampler, split", "TrueSkill, split"),
        *("Hopkins and May, own", "Expected Wins, own", "`trueskill`, own"),
    )
    return ResultTable(
        title="Perplexity, ours (theirs is a figure, between 2.80 and 3.00)",
        columns=columns,
        rows=tuple(rows),
        labels=2,
    )


def _leak_table(results: Sequence[Result]) -> ResultTable:
    """Return the effect of a test set inside the training set."""
    rows = []
    for size, group in group_by(results, "size").items():
        pools = group_by(group, "pool")
        row: list[Any] = [size]
        for model in (WINS, HOPKINS_MAY, SELECTS, ONLINE):
            leaking, clean = (group_by(pools[pool], "model")[model] for pool in ("leaking", "all"))
            row.append(format_signed(paired_difference(leaking, clean, "accuracy")))
        rows.append(tuple(row))
    title = "Gain in accuracy if the test set is inside the training pool"
    return ResultTable(title=title, columns=("pairs", WINS, HOPKINS_MAY, SELECTS, ONLINE), rows=tuple(rows))


def _prediction_text(results: Sequence[Result]) -> str:
    everyone = [one for one in results if one.cell["pool"] == "all"]
    small = min(one.cell["size"] for one in everyone)
    by_model = group_by([one for one in everyone if one.cell["size"] == small], "model")
    first = paired_difference(by_model[HOPKINS_MAY], by_model[WINS], "accuracy")
    second = paired_difference(by_model[SELECTS], by_model[HOPKINS_MAY], "accuracy")
    sampler = paired_difference(by_model[THEIR_SAMPLER], by_model[HOPKINS_MAY], "accuracy")
    carved = {
        model: Estimate.of(one.measured["carved_perplexity"] for one in everyone if one.cell["model"] == model)
        for model in (HOPKINS_MAY, THEIR_SAMPLER)
    }
    theirs = read_published(KEY)["table2"]["all"]
    bounds = {one.cell["repeat"]: one.measured["bound"] for one in everyone}
    said = {
        "yes": "holds",
        "no": "does not hold: the order is reversed",
        "not significant": "is not significant: the difference is within its error",
    }
    return fill_text(
        "prediction",
        small=str(small),
        first=format_signed(first),
        first_said=said[verdict(first)],
        second=format_signed(second),
        second_said=said[verdict(second)],
        away=f"{abs(theirs[SELECTS][0] - theirs[HOPKINS_MAY][0] - second.mean) / (second.error or 1.0):.0f}",
        sampler=format_signed(sampler),
        exact_perplexity=f"{carved[HOPKINS_MAY].mean:.2f}",
        sampler_perplexity=f"{carved[THEIR_SAMPLER].mean:.2f}",
        repeats=str(len(bounds)),
        bound=Estimate.of(bounds.values()).text(),
    )


SECTION = Section(
    name="prediction",
    title="Accuracy and perplexity by training size (Table 2, Figures 3 and 4)",
    paper=KEY,
    experiment="prediction",
    file=WMT13,
    options={"repeats": 150, "pools": ["all", "researchers", "leaking"]},
    tables=_prediction_tables,
    text=_prediction_text,
    caption="Accuracy and perplexity by the models' own probabilities, by training size; errors within repeats",
)
