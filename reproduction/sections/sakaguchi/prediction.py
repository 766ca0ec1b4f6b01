"""Accuracy and perplexity by training size: Table 2, Figures 3 and 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from reproduction.claims import SURE, Claim, describe, format_signed, is_sure
from reproduction.papers import read_published
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.sakaguchi.paper import HOPKINS_MAY, KEY, NAMES, ONLINE, THEIR_SAMPLER, WINS, WMT13, claim
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.protocols.learners import SELECTS
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


PRINTED_AS = {THEIR_SAMPLER: HOPKINS_MAY}  # the published row of a model, if it has another name
MODELS = (HOPKINS_MAY, WINS, ONLINE)  # those with probabilities of their own


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
        for better, worse in ((THEIR_SAMPLER, WINS), (SELECTS, THEIR_SAMPLER), (SELECTS, WINS), (ONLINE, WINS)):
            if published_too and better != ONLINE:
                place = theirs["sizes"].index(size)
                gap = (
                    theirs["all"][PRINTED_AS.get(better, better)][place]
                    - theirs["all"][PRINTED_AS.get(worse, worse)][place]
                )
                row.append(format_signed(Estimate(gap, None, 1), 3))
            difference = paired_difference(by_model[better], by_model[worse], "accuracy")
            row.append(f"{format_signed(difference)}{'' if is_sure(difference) else ' (same)'}")
        rows.append(tuple(row))
    heads = ("Hopkins and May − Expected Wins", "TrueSkill − Hopkins and May", "TrueSkill − Expected Wins")
    told = [name for head in heads for name in ((f"{head}, theirs", "ours") if published_too else (head,))]
    columns = ("pairs", *told, "`trueskill` − Expected Wins")
    title = f"Differences in accuracy, within repeats, trained on all judges (same: within {SURE:g} standard errors)"
    return ResultTable(title=title, columns=columns, rows=tuple(rows))


def _perplexity_table(results: Sequence[Result]) -> ResultTable:
    rows: list[tuple[Any, ...]] = []
    for (pool, size), group in group_by(results, "pool", "size").items():
        by_model = group_by(group, "model")
        own = [Estimate.of(one.measured["perplexity"] for one in by_model[name]) for name in MODELS]
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
        title="Perplexity, ours (theirs is a figure)",
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


def _at(results: Sequence[Result], model: str, size: int, pool: str = "all") -> list[Result]:
    wanted = {"model": model, "size": size, "pool": pool}
    return [one for one in results if all(one.cell[name] == value for name, value in wanted.items())]


def _prediction_claims(results: Sequence[Result]) -> list[Claim]:
    theirs = read_published(KEY)["table2"]
    sizes = theirs["sizes"]
    small, before, large = sizes[0], sizes[-2], sizes[-1]

    def published(model: str, size: int, pool: str = "all") -> float:
        value: float = theirs[pool][PRINTED_AS.get(model, model)][sizes.index(size)]
        return value

    found = [
        claim(
            "accuracy",
            f"accuracy of TrueSkill minus {NAMES[worse]}, {size:,} pairs",
            "above",
            paired_difference(_at(results, SELECTS, size), _at(results, worse, size), "accuracy"),
            theirs=published(SELECTS, size) - published(worse, size),
            digits=4,
        )
        for worse in (THEIR_SAMPLER, WINS)
        for size in (small, large)
    ]
    found.append(
        claim(
            "saturates",
            f"accuracy of TrueSkill, {large:,} pairs minus {before:,}",
            "equal",
            paired_difference(_at(results, SELECTS, large), _at(results, SELECTS, before), "accuracy"),
            theirs=published(SELECTS, large) - published(SELECTS, before),
            digits=4,
        )
    )
    found += [
        claim(
            "researchers",
            f"accuracy of TrueSkill trained on researchers minus all, {size:,} pairs",
            "above",
            paired_difference(_at(results, SELECTS, size, "researchers"), _at(results, SELECTS, size), "accuracy"),
            theirs=published(SELECTS, size, "researchers") - published(SELECTS, size),
            digits=4,
        )
        for size in (small, large)
    ]
    bounds = {one.cell["repeat"]: one.measured["bound"] for one in results}
    found.append(
        claim("bound", "upper bound of accuracy", "same", Estimate.of(bounds.values()), theirs=theirs["upper_bound"])
    )
    return found + _perplexity_claims(results, small, large)


def _perplexity_claims(results: Sequence[Result], small: int, large: int) -> list[Claim]:
    carved = "carved_perplexity"
    found = [
        claim(
            "perplexity-falls",
            f"perplexity of {NAMES[model]}, {large:,} pairs minus {small:,}",
            "below",
            paired_difference(_at(results, model, large), _at(results, model, small), carved),
        )
        for model in (THEIR_SAMPLER, SELECTS)
    ]
    expectations: tuple[tuple[str, str, Literal["equal", "below"]], ...] = (
        ("perplexity-all", "all", "equal"),
        ("perplexity-researchers", "researchers", "below"),
    )
    for name, pool, expected in expectations:
        gap = paired_difference(_at(results, THEIR_SAMPLER, large, pool), _at(results, SELECTS, large, pool), carved)
        measured = f"perplexity of Hopkins and May minus TrueSkill, {large:,} pairs, trained on {pool}"
        found.append(claim(name, measured, expected, gap))
    setup = read_published(KEY)["setup"]
    for name, measure in (("radius-perplexity", "perplexity"), ("radius-accuracy", "accuracy")):
        radii = setup[f"{measure}_radii"]
        chosen = [
            one.measured[f"{measure}_radius"]
            for one in results
            if one.cell["model"] in (THEIR_SAMPLER, SELECTS) and one.cell["pool"] == "all"
        ]
        measured = f"share of our runs with one of these radii, minus one half ({measure})"
        found.append(claim(name, measured, "above", Estimate.of((radius in radii) - 0.5 for radius in chosen)))
    return found


def _prediction_text(results: Sequence[Result]) -> str:
    setup, figure = read_published(KEY)["setup"], read_published(KEY)["figure3"]
    small, large = (pick(one.cell["size"] for one in results) for pick in (min, max))
    split = {
        model: Estimate.of(one.measured["carved_perplexity"] for one in _at(results, model, large))
        for model in (HOPKINS_MAY, THEIR_SAMPLER, SELECTS)
    }
    own = {name: Estimate.of(one.measured["perplexity"] for one in _at(results, name, large)) for name in MODELS}
    best = min(own, key=lambda name: own[name].mean)
    return fill_text(
        "prediction",
        held_out=f"{setup['held_out']:,}",
        repeats=str(len({one.cell["repeat"] for one in results})),
        language_pairs=str(setup["language_pairs"]),
        lowest=f"{figure['lowest']:.2f}",
        highest=f"{figure['highest']:.2f}",
        radius=str(setup["radius"]),
        large=f"{large:,}",
        exact=_in_range(split[HOPKINS_MAY]),
        sampler=_in_range(split[THEIR_SAMPLER]),
        trueskill=_in_range(split[SELECTS]),
        samplers=describe(
            paired_difference(_at(results, THEIR_SAMPLER, small), _at(results, HOPKINS_MAY, small), "accuracy"), 4
        ),
        small=f"{small:,}",
        own=own[best].text(),
        own_model=NAMES.get(best, f"`{best}`"),
        leak=_leak_words(results),
    )


def _in_range(found: Estimate) -> str:
    """Return a perplexity, and whether it is in the range of Figure 3."""
    figure = read_published(KEY)["figure3"]
    return f"{found.text()} ({'inside' if figure['lowest'] <= found.mean <= figure['highest'] else 'outside'})"


def _leak_words(results: Sequence[Result]) -> str:
    gains = [
        (model, size, paired_difference(_at(results, model, size, "leaking"), _at(results, model, size), "accuracy"))
        for model in (WINS, HOPKINS_MAY, SELECTS, ONLINE)
        for size in sorted({one.cell["size"] for one in results})
    ]
    sure = [gain for _, _, gain in gains if is_sure(gain)]
    most = max((gain.mean for gain in sure), default=0.0)
    return f"beyond two standard errors in {len(sure)} of {len(gains)} comparisons, and then at most {most:.4f}"


SECTION = Section(
    name="prediction",
    title="Accuracy and perplexity by training size (Table 2, Figures 3 and 4)",
    paper=KEY,
    experiment="prediction",
    file=WMT13,
    options={"repeats": 150, "pools": ["all", "researchers", "leaking"]},
    tables=_prediction_tables,
    text=_prediction_text,
    claims=_prediction_claims,
    caption="Accuracy and perplexity by the models' own probabilities, by training size; errors within repeats",
)
