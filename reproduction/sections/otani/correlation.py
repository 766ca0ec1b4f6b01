"""Correlation and nDCG with the gold scores: Figure 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.papers import read_published
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.otani.paper import BATCH, HOPKINS_MAY, KEY, TWO_STAGE, WINS, WMT13, claim
from streams.lab.experiments.correlation import ANY, Correlation, short_baselines
from streams.lab.protocols.learners import SELECTS
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Claim
    from streams.lab.experiments import Estimate, Result

MEASURES = {"pearson": "correlation", "ndcg": "nDCG"}


def _correlation_claims(results: Sequence[Result]) -> list[Claim]:
    large = max(one.cell["size"] for one in results)
    groups = group_by([one for one in results if one.cell["size"] == large], "model", "baseline")
    middle, worst = _middle_and_worst(results)

    def apart(first: tuple[str, str], second: tuple[str, str], measure: str) -> Estimate:
        return paired_difference(groups[first], groups[second], measure)

    best = (SELECTS, ANY)
    found = [
        claim("ts-highest", f"{name} of TrueSkill minus {other}", "above", apart(best, (model, ANY), measure))
        for measure, name in MEASURES.items()
        for model, other in ((HOPKINS_MAY, "Hopkins and May"), (WINS, "Expected Wins"))
    ]
    found += [
        claim(
            "grm-best",
            f"{name} of the GRM with the middle baseline minus TrueSkill",
            "equal",
            apart((BATCH, middle), best, measure),
        )
        for measure, name in MEASURES.items()
    ]
    found += [
        claim(
            "tst-best",
            "correlation of the two-stage model with the middle baseline minus TrueSkill",
            "equal",
            apart((TWO_STAGE, middle), best, "pearson"),
        ),
        claim(
            "tst-best",
            "nDCG of the two-stage model with the middle baseline minus TrueSkill",
            "below",
            apart((TWO_STAGE, middle), best, "ndcg"),
        ),
    ]
    found += [
        claim(
            "worst",
            f"correlation of the {name} with the worst baseline minus TrueSkill",
            "below",
            apart((model, worst), best, "pearson"),
        )
        for model, name in ((BATCH, "GRM"), (TWO_STAGE, "two-stage model"))
    ]
    found.append(
        claim(
            "grm-worst-ndcg",
            "nDCG with the worst baseline: GRM minus the two-stage model",
            "above",
            apart((BATCH, worst), (TWO_STAGE, worst), "ndcg"),
        )
    )
    return found


def _middle_and_worst(results: Sequence[Result]) -> tuple[str, str]:
    """Return the baseline whose Expected Wins are nearest to one half, and the system that wins least."""
    shares = {one.cell["baseline"]: one.measured["win_share"] for one in results if one.cell["baseline"] != ANY}
    return min(shares, key=lambda name: abs(shares[name] - 0.5)), min(shares, key=lambda name: shares[name])


def _correlation_text(results: Sequence[Result]) -> str:
    names = short_baselines(results)
    middle, worst = _middle_and_worst(results)
    paper = read_published(KEY)
    ours = [one.measured["ndcg"] for one in results]
    return fill_text(
        "correlation",
        large=f"{max(one.cell['size'] for one in results):,}",
        repeats=str(len(group_by(results, "repeat"))),
        middle=names[middle],
        worst=names[worst],
        best_wins=f"{paper['baselines']['best_wins']}",
        best_loses=f"{paper['baselines']['best_loses']}",
        highest=f"{max(paper['table1']['ndcg']['grm']):.3f}",
        lowest_ours=f"{min(ours):.3f}",
    )


SECTION = Section(
    name="correlation",
    title="Correlation and nDCG with the gold scores (Figure 3)",
    paper=KEY,
    experiment="correlation",
    file=WMT13,
    options={"repeats": 8},
    tables=lambda results: Correlation().tables(results),
    text=_correlation_text,
    claims=_correlation_claims,
    caption="Correlation and nDCG by comparisons; dashed: the worst of three baselines",
)
