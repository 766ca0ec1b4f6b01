"""Judges who answer at random: Table 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.claims import Claim, describe
from reproduction.papers import read_published
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.otani.paper import HOPKINS_MAY, KEY, ONLINE, THEIR_SAMPLER, WINS, WMT13, claim
from streams.lab.experiments import Result, ResultTable
from streams.lab.experiments.noise import average_baselines, average_sizes
from streams.lab.running.tables import estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.experiments import Estimate

NAMES = {
    ONLINE: "GRM",
    HOPKINS_MAY: "Hopkins and May",
    THEIR_SAMPLER: "Hopkins and May by the sampler of Sakaguchi et al.",
    WINS: "Expected Wins",
}
MEASURES = {"pearson": "Correlation", "ndcg": "nDCG"}


def _published(measure: str, model: str) -> list[float]:
    """Return the row of a model. The paper prints those of the other models as differences from the GRM."""
    rows = read_published(KEY)["table1"][measure]
    apart = rows[HOPKINS_MAY if model == THEIR_SAMPLER else model]
    return [base + (0.0 if model == ONLINE else row) for base, row in zip(rows[ONLINE], apart, strict=True)]


def _over_sizes(results: Sequence[Result]) -> list[Result]:
    """Return the mean over baselines and sizes in each repeat, as Table 1 averages over all datasets."""
    return average_sizes(average_baselines(results))


def _noise_tables(results: Sequence[Result]) -> list[ResultTable]:
    shares = read_published(KEY)["table1"]["shares"]
    by_size = group_by(average_baselines(results), "size")
    tables = []
    for measure, title in MEASURES.items():
        means = _estimates(_over_sizes(results), measure)
        found = {size: _estimates(some, measure) for size, some in by_size.items()}
        rows: list[tuple[Any, ...]] = []
        for model in dict.fromkeys(one.cell["model"] for one in results):
            theirs = _published(measure, model) if model in NAMES else [None] * len(shares)
            for share, value in zip(shares, theirs, strict=True):
                if model not in NAMES and share not in (shares[0], shares[-1]):
                    continue
                ours = [found[size].get((model, share)) for size in by_size]
                rows.append((f"`{model}`", f"{share:.0%}", value, means[model, share], *ours))
        columns = ("model", "random judges", "theirs", "ours, mean of sizes", *(f"{size:,}" for size in by_size))
        tables.append(ResultTable(title=f"{title}, by comparisons", columns=columns, rows=tuple(rows), labels=2))
    return tables


def _estimates(results: Sequence[Result], measure: str) -> dict[tuple[str, float], Estimate]:
    return {
        (model, share): estimate
        for model, group in group_by(results, "model").items()
        for share, estimate in estimate_by(group, measure, "noise").items()
    }


def _loss(results: Sequence[Result], model: str) -> list[Result]:
    """Return what each repeat of a model loses from no random judges to the largest share of them."""
    most = max(one.cell["noise"] for one in results)
    by_noise = group_by([one for one in results if one.cell["model"] == model], "noise")
    noisy = {one.cell["repeat"]: one for one in by_noise[most]}
    return [
        Result(one.cell, {name: one.measured[name] - noisy[one.cell["repeat"]].measured[name] for name in MEASURES})
        for one in by_noise[0.0]
    ]


def _noise_claims(results: Sequence[Result]) -> list[Claim]:
    most = max(one.cell["noise"] for one in results)
    averaged = _over_sizes(results)
    found = []
    for measure, name in MEASURES.items():
        for other in (HOPKINS_MAY, THEIR_SAMPLER, WINS):
            lost = [values[0] - values[-1] for values in (_published(measure, model) for model in (ONLINE, other))]
            ours = paired_difference(_loss(averaged, ONLINE), _loss(averaged, other), measure)
            measured = f"{name} lost at {most:.0%} random judges: GRM minus {NAMES[other]}"
            found.append(claim("noise", measured, "below", ours, theirs=lost[0] - lost[1]))
    return found


def _noise_text(results: Sequence[Result]) -> str:
    most = max(one.cell["noise"] for one in results)
    by_model = group_by([one for one in _over_sizes(results) if one.cell["noise"] == most], "model")
    sizes = sorted({one.cell["size"] for one in results})
    return fill_text(
        "noise",
        most=f"{most:.0%}",
        repeats=str(len(group_by(results, "repeat"))),
        sizes=f"the mean of {', '.join(f'{size:,}' for size in sizes)} comparisons"
        if len(sizes) > 1
        else f"{sizes[0]:,} comparisons",
        gap=describe(paired_difference(by_model[ONLINE], by_model[WINS], "pearson"), 3),
        aware=describe(paired_difference(by_model["trueskill-judges"], by_model["trueskill"], "pearson"), 4),
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
            *(ONLINE, HOPKINS_MAY, THEIR_SAMPLER, WINS),
            *("trueskill", "trueskill-judges", "crowd-bt"),
        ],
    },
    tables=_noise_tables,
    text=_noise_text,
    claims=_noise_claims,
    caption="Correlation and nDCG by the share of judges who answer at random",
)
