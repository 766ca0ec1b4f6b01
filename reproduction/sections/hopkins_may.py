"""Hopkins and May (2013): models of translation competitions."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.claims import Claim, describe, is_sure
from reproduction.papers import read_published
from reproduction.section import Section, fill_text
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.experiments.abilities import abilities
from streams.lab.experiments.competition_tables import BEST, costs_of_crowd, difference, differences, means
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Expected

KEY = "hopkins2013"
PAPER = "Hopkins and May (2013)"
NOT_SHOWN = (
    "The paper shows its perplexities only as curves, so its statements are compared, not its numbers. Figure 4 and a "
    "third of Table 3 are about WMT12, where four models were nearly the same ([[hopkins2013:wmt12]]). It is not in "
    "our data. Figure 1 shows the model."
)
GEOMETRIC, ARITHMETIC, PAIRS = (
    *("independent-students-geometric", "independent-students-arithmetic"),
    "independent-pairs",
)
CATEGORICAL = "hopkins-may-categorical"
NAMES = {
    BEST: "IRT-Gaussian",
    CATEGORICAL: "IRT-Categorical",
    GEOMETRIC: "Geometric Students",
    ARITHMETIC: "Arithmetic Students",
}
REFERENCE = "_ref"
CLOSE = ("online-B", "cu-bojar", "cu-marecek")  # Lopez (2012) asked for the order of these
THEIRS = (PAIRS, ARITHMETIC, GEOMETRIC, CATEGORICAL, BEST)
OURS = ("trueskill", "bradley-terry-ties")


def _sizes(results: Sequence[Result]) -> ResultTable:
    year = results[0].cell["campaign"][:5]
    theirs = read_published("hopkins2013")["table3"][year]
    rows: list[tuple[Any, ...]] = []
    for campaign, some in group_by([one for one in results if one.cell["pool"] == "own"], "campaign").items():
        training, test = theirs[campaign.rpartition(".")[2]]
        rows.append((campaign, training, some[0].measured["pool"], test, some[0].measured["test"]))
    columns = ("track", "training pairs, theirs", "ours", "test pairs, theirs", "ours ")
    return ResultTable(title="Sizes of the data (Table 3)", columns=columns, rows=tuple(rows))


def _tables(results: Sequence[Result]) -> list[ResultTable]:
    own = [one for one in results if one.cell["pool"] == "own"]
    some = [one for one in own if one.cell["model"] in (*THEIRS, *OURS)]
    return [
        _sizes(results),
        means(some, "Perplexity by training size, ours: the better models of the paper and two more"),
        differences(some, f"Perplexity above that of `{BEST}`, within tracks"),
    ]


def _crowd_tables(results: Sequence[Result]) -> list[ResultTable]:
    some = [one for one in results if one.cell["model"] in (*THEIRS, *OURS)]
    crowd = [one for one in some if one.cell["pool"] == "crowd"]
    return [
        means(crowd, "Perplexity on the experts' test sets, trained on the crowd, ours"),
        costs_of_crowd(some, "Cost of learning from the crowd instead of experts, within tracks"),
    ]


def _at(results: Sequence[Result], model: str, size: int, pool: str = "own") -> list[Result]:
    wanted = {"model": model, "size": size, "pool": pool}
    return [one for one in results if all(one.cell[name] == value for name, value in wanted.items())]


def _claims(results: Sequence[Result]) -> list[Claim]:
    sizes = sorted({one.cell["size"] for one in results})
    found = []
    for better, worse in (
        (BEST, CATEGORICAL),
        (BEST, GEOMETRIC),
        (BEST, ARITHMETIC),
        (CATEGORICAL, GEOMETRIC),
    ):
        for size in (sizes[0], sizes[-1]):
            ours = difference(_at(results, better, size), _at(results, worse, size))
            found.append(_claim("gaussian", f"{NAMES[better]} minus {NAMES[worse]}, {size:,} pairs", "below", ours))
    return found


def _crowd_claims(results: Sequence[Result]) -> list[Claim]:
    size = max(one.cell["size"] for one in results)
    cost = {
        name: {campaign: crowd - own for campaign, (own, crowd) in _by_track(results, name, size).items()}
        for name in (BEST, CATEGORICAL, GEOMETRIC)
    }
    found = [
        _claim(
            "robust",
            f"cost of the crowd for Geometric Students minus {NAMES[name]}, {size:,} pairs",
            "above",
            Estimate.of(cost[GEOMETRIC][track] - cost[name][track] for track in cost[name]),
        )
        for name in (BEST, CATEGORICAL)
    ]
    gaussian, geometric = _by_track(results, BEST, size), _by_track(results, GEOMETRIC, size)
    found.append(
        _claim(
            "replicates",
            f"IRT-Gaussian trained on the crowd minus Geometric Students on experts, {size:,} pairs",
            "equal",
            Estimate.of(gaussian[track][1] - geometric[track][0] for track in gaussian),
        )
    )
    return found


def _by_track(results: Sequence[Result], model: str, size: int) -> dict[str, tuple[float, float]]:
    """Return the perplexity of each track, trained on experts and on the crowd."""
    pools = [
        {one.cell["campaign"]: float(np.mean(one.measured["perplexity"])) for one in _at(results, model, size, pool)}
        for pool in ("own", "crowd")
    ]
    return {track: (pools[0][track], pools[1][track]) for track in pools[0] if track in pools[1]}


def _claim(quote: str, measured: str, expected: Expected, ours: Estimate, theirs: float | None = None) -> Claim:
    published = None if theirs is None else Estimate(theirs, None, 1)
    return Claim(paper=KEY, quote=quote, measured=measured, expected=expected, ours=ours, theirs=published)


def _text(results: Sequence[Result]) -> str:
    own = [one for one in results if one.cell["pool"] == "own"]
    exact = all(row[1] == row[2] and row[3] == row[4] for row in _sizes(results).rows)
    table = differences([one for one in own if one.cell["model"] not in OURS], "")
    rows: Any = table.rows
    gaps = [(row[0], model, gap) for row in rows for model, gap in zip(table.columns[1:], row[1:], strict=True)]
    ahead = [gap for _, _, gap in gaps if gap.mean > 0 and is_sure(gap)]
    behind = [(size, model) for size, model, gap in gaps if gap.mean <= 0]
    size = max(one.cell["size"] for one in own)
    ours = {name: difference(_at(own, name, size), _at(own, BEST, size)) for name in OURS}
    words = {"higher": "a perplexity higher", "lower": "a perplexity lower"}
    return fill_text(
        "competitions",
        sizes="equal" if exact else "do not equal",
        comparisons=str(len(gaps)),
        lowest=str(len(gaps) - len(behind)),
        ahead=str(len(ahead)),
        size=f"{size:,}",
        ties=describe(ours["bradley-terry-ties"], higher=words["higher"], lower=words["lower"]),
        trueskill=describe(ours["trueskill"], higher=words["higher"], lower=words["lower"]),
    )


def _with_crowd(results: Sequence[Result]) -> str:
    size, last = _last(costs_of_crowd(results, ""))
    costs = ", ".join(
        f"{name} {last[model].text()}"
        for model, name in (
            (BEST, "IRT-Gaussian"),
            (CATEGORICAL, "IRT-Categorical"),
            (GEOMETRIC, "Geometric Students"),
            ("trueskill", "`trueskill`"),
            ("bradley-terry-ties", "Bradley-Terry with ties"),
        )
    )
    return _text(results) + "\n" + fill_text("crowd", size=f"{size:,}", costs=costs)


def _abilities_table(results: Sequence[Result]) -> ResultTable:
    rows = tuple((system, mean, deviation) for system, (mean, deviation) in abilities(results).items())
    title = "Ability above the average, mean and deviation over training sets"
    return ResultTable(title=title, columns=("system", "mean", "deviation"), rows=rows)


def _abilities_claims(results: Sequence[Result]) -> list[Claim]:
    found = abilities(results)
    highest, lowest = (pick(CLOSE, key=lambda name: found[name][0]) for pick in (max, min))
    apart = Estimate(
        found[highest][0] - found[lowest][0],
        float(np.hypot(found[highest][1], found[lowest][1])),  # of one training, as the error bars of the paper
        len(results),
    )
    others = [name for name in found if name != REFERENCE]
    second = max(others, key=lambda name: found[name][0])
    ahead = Estimate(
        found[REFERENCE][0] - found[second][0], float(np.hypot(found[REFERENCE][1], found[second][1])), len(results)
    )
    return [
        _claim("arbitrary", f"ability of {highest} minus {lowest} (± deviation of one training)", "equal", apart),
        _claim("reference", f"ability of the reference minus {second} (± deviation of one training)", "above", ahead),
    ]


def _abilities_text(results: Sequence[Result]) -> str:
    means = [mean for mean, _ in abilities(results).values()]
    strata = read_published(KEY)["strata"]
    theirs = [1, strata["last_of_second"], strata["last_of_third"]]
    gaps = [first - second for first, second in itertools.pairwise(means)]
    ours = sorted(int(place) + 1 for place in np.argsort(gaps)[-len(theirs) :])
    same = "at the same places" if ours == theirs else f"after places {_places(ours)}"
    return fill_text(
        "abilities",
        size=f"{read_published(KEY)['setup']['figure6_size']:,}",
        trainings=str(len(results)),
        theirs=_places(theirs),
        ours=same,
    )


def _places(places: Sequence[int]) -> str:
    return f"{', '.join(map(str, places[:-1]))} and {places[-1]}"


def _agreement(results: Sequence[Result]) -> list[tuple[str, float, float]]:
    """Return the published share of agreement and ours over all tracks, for experts and for the crowd."""
    theirs = read_published("hopkins2013")["agreement"]
    found = []
    for who, crowd in (("experts", False), ("crowd", True)):
        some = [one for one in results if ("-public." in one.cell["campaign"]) is crowd]
        counts = [one.measured["strict"]["inter"] for one in some]
        share = sum(one["agree"] for one in counts) / sum(one["comparable"] for one in counts)
        found.append((who, theirs[who], share))
    return found


def _agreement_table(results: Sequence[Result]) -> ResultTable:
    rows = tuple(_agreement(results))
    return ResultTable(title="Share of pairs of outcomes that agree", columns=("judges", "theirs", "ours"), rows=rows)


def _agreement_text(results: Sequence[Result]) -> str:
    same = all(round(ours, 3) == theirs for _, theirs, ours in _agreement(results))
    return fill_text("annotators-wmt10", same="Both are reproduced" if same else "Ours differ")


def _last(table: ResultTable) -> tuple[int, dict[str, Any]]:
    """Return the largest size, and the value of every model at that size."""
    size, *cells = table.rows[-1]
    return int(str(size)), dict(zip(table.columns[1:], cells, strict=True))


SECTIONS = (
    Section(
        name="competitions-wmt10",
        title="Perplexity on WMT10, of experts and of a crowd (Table 3, Figures 2 and 5)",
        paper=KEY,
        experiment="competitions",
        file="wmt10_rank.csv.gz",
        tables=lambda results: [*_tables(results), *_crowd_tables(results)],
        text=_with_crowd,
        claims=lambda results: [*_claims(results), *_crowd_claims(results)],
        caption="Perplexity by training size on WMT10, trained on experts and on the crowd",
    ),
    Section(
        name="competitions-wmt11",
        title="Perplexity on WMT11 (Table 3, Figure 3)",
        paper=KEY,
        experiment="competitions",
        file="wmt11_rank.csv.gz",
        options={"tracks": "wmt11-indivsystems.*"},
        tables=_tables,
        text=_text,
        claims=_claims,
        caption="Perplexity by training size on WMT11",
    ),
    Section(
        name="abilities",
        title="Abilities of English-Czech systems of WMT11 (Figure 6)",
        paper=KEY,
        experiment="abilities",
        file="wmt11_rank.csv.gz",
        campaigns=("wmt11-indivsystems.en-cs",),
        tables=lambda results: [_abilities_table(results)],
        text=_abilities_text,
        claims=_abilities_claims,
        caption="Abilities of the English-Czech systems, and the preferences between them",
    ),
    Section(
        name="annotators-wmt10",
        title="Agreement of experts and of the crowd on WMT10 (section 8)",
        paper=KEY,
        experiment="annotators",
        file="wmt10_rank.csv.gz",
        tables=lambda results: [_agreement_table(results)],
        text=_agreement_text,
    ),
)
