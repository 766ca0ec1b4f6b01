"""Bojar et al. (2013): findings of the 2013 Workshop on Statistical Machine Translation."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from reproduction.claims import Claim, subtract
from reproduction.papers import read_published
from reproduction.section import Section, fill_text
from reproduction.sections.wmt13 import cluster_numbers, count_stars, names_in_log, stars_sentence
from streams.lab.experiments import Estimate, Result, ResultTable
from streams.lab.experiments.annotators import agreement_of, threshold_rows
from streams.lab.experiments.official import rows_of, table_of
from streams.reports.report import short_names
from streams.reports.score_axis import rank_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Expected
    from streams.agreement.agreement import Agreement

KEY = "findings2013"
PAPER = "Bojar et al. (2013), findings of WMT13"
NOT_SHOWN = (
    "Our data has one of the ten language pairs, French-English: one row of Tables 2 to 4, one part of Table 6, and "
    "[[findings2013:french-english]] of Tables 21 to 30. Table 5 is about Russian-English. Our data has neither the "
    "edits and reviews of [[findings2013:reviews]] to [[findings2013:understandability]] (understandability), nor the "
    "references of [[findings2013:references]] and Figures [[findings2013:references-first]] to "
    "[[findings2013:references-last]], nor the data of [[findings2013:qe-first]] to [[findings2013:qe-last]] (quality "
    "estimation; [[findings2013:qe-words]] and [[findings2013:qe-last]] are on words). Some of their measures are "
    "here: `streams.lab.measures.rates`, tested on the counts of Table 9, `streams.lab.measures.delta_avg` and "
    "`streams.lab.measures.segment_tau`. Table 1 and Figures 1 to 4 need no judgments."
)
LOG = "wmt13_fr-en_rank.csv.gz"
GROUPS = {"all": "all", "researchers": "researchers", "others": "crowd"}
RULES = {"wmt": "rule of WMT15", "strict": "strict rule"}
STARS = "⋆†‡"
KINDS = {"inter": "table3", "intra": "table4"}


def _claim(quote: str, measured: str, expected: Expected, ours: Estimate, theirs: float | None = None) -> Claim:
    published = None if theirs is None else Estimate(theirs, None, 1)
    return Claim(paper=KEY, quote=quote, measured=measured, expected=expected, ours=ours, theirs=published)


def kappa_estimate(found: Agreement) -> Estimate:
    """Return kappa with its standard error, √(P(A) (1 - P(A)) / n) / (1 - P(E)) for n pairs of outcomes (Cohen 1960).

    Pairs of outcomes of one item are not independent, so the true error is larger.
    """
    share = found.observed
    error = sqrt(share * (1.0 - share) / found.comparable) / (1.0 - found.chance)
    return Estimate(found.kappa, error, found.comparable)


def _kappas(results: Sequence[Result]) -> dict[tuple[str, str, str], Estimate]:
    """Return kappa by rule, kind and group of judges."""
    return {
        (rule, kind, one.cell["judges"]): kappa_estimate(agreement_of(one.measured[rule][kind]))
        for one in results
        for rule in RULES
        for kind in KINDS
    }


def _threshold_kappas(results: Sequence[Result]) -> dict[float | None, Estimate | None]:
    """Return kappa of the crowd by threshold; None if nothing can be compared."""
    return {
        row["threshold"]: kappa_estimate(agreement_of(row)) if row["comparable"] else None
        for one in results
        for row in one.measured.get("thresholds", ())
    }


def _agreement_tables(results: Sequence[Result]) -> list[ResultTable]:
    theirs, ours = read_published(KEY), _kappas(results)
    rows: list[tuple[Any, ...]] = [
        (kind, name, theirs[table][group], *(ours[rule, kind, group] for rule in RULES))
        for kind, table in KINDS.items()
        for group, name in GROUPS.items()
    ]
    columns = ("κ", "judges", "theirs", *(f"ours, {name}" for name in RULES.values()))
    agreement = ResultTable(title="Agreement (Tables 3 and 4)", columns=columns, rows=tuple(rows), labels=2)
    ours_by, kappas = {row.threshold: row for row in threshold_rows(results)}, _threshold_kappas(results)
    five = theirs["table5"]
    passed: list[tuple[Any, ...]] = []
    for threshold, rankings, kappa in zip(five["thresholds"], five["rankings"], five["kappa"], strict=True):
        row = ours_by[threshold]
        passed.append(
            (f"{threshold:.0%}", rankings, kappa, row.comparisons, row.judges, row.comparable, kappas[threshold])
        )
    heads = (
        *("controls passed", "rankings, ru-en, theirs", "κ, theirs", "comparisons, fr-en, ours", "judges"),
        *("pairs of outcomes", "κ, ours"),
    )
    return [
        agreement,
        ResultTable(title="Agreement of the crowd by threshold (Table 5)", columns=heads, rows=tuple(passed)),
    ]


def _agreement_claims(results: Sequence[Result]) -> list[Claim]:
    theirs, ours = read_published(KEY), _kappas(results)
    found = []
    for name, kind, table in (("turkers", "inter", "table3"), ("intra", "intra", "table4")):
        told = theirs[table]["researchers"] - theirs[table]["others"]
        for rule, rule_name in RULES.items():
            gap = subtract(ours[rule, kind, "researchers"], ours[rule, kind, "others"])
            measured = f"{kind}-annotator κ of researchers minus crowd, {rule_name}"
            found.append(_claim(name, measured, "above", gap, told))
    kappas, five = _threshold_kappas(results), theirs["table5"]
    low, high = five["thresholds"][:2]
    first, second = kappas[low], kappas[high]
    if first is not None and second is not None:
        measured = f"κ at a threshold of {high:.0%} minus {low:.0%}"
        found.append(_claim("sixty", measured, "above", subtract(second, first), five["kappa"][1] - five["kappa"][0]))
    return found


def _agreement_text(results: Sequence[Result]) -> str:
    theirs, ours = read_published(KEY), _kappas(results)
    away = {
        kind: max(min(abs(ours[rule, kind, group].mean - theirs[table][group]) for rule in RULES) for group in GROUPS)
        for kind, table in KINDS.items()
    }
    orders = {
        kind: all(
            sorted(GROUPS, key=lambda group, rule=rule, kind=kind: -ours[rule, kind, group].mean)  # type: ignore[misc]
            == sorted(GROUPS, key=lambda group, table=table: -theirs[table][group])  # type: ignore[misc]
            for rule in RULES
        )
        for kind, table in KINDS.items()
    }
    everybody, *some = threshold_rows(results)
    setup = theirs["setup"]
    return fill_text(
        "annotators",
        inter=_same(orders["inter"]),
        intra=_same(orders["intra"]),
        inter_away=f"{away['inter']:.3f}",
        intra_away=f"{away['intra']:.3f}",
        judges=str(everybody.judges),
        margin=str(setup["margin"]),
        tested=str(some[0].judges),
        fewest=str(setup["fewest"]),
    )


def _same(same: bool) -> str:
    return "as published, by both rules" if same else "not as published"


def _official_tables(results: Sequence[Result]) -> list[ResultTable]:
    theirs, (one,) = read_published(KEY), results
    told, names = theirs["table6"], theirs["table25"]["systems"]
    rows = [
        (system, score, row.score, range_, rank_range(row.rank_low, row.rank_high), cluster, row.cluster)
        for system, score, range_, cluster, row in zip(
            names, told["scores"], told["ranges"], cluster_numbers(told["ranges"]), rows_of(one), strict=True
        )
    ]
    columns = ("system", "Expected Wins, theirs", "ours", "range, theirs", "ours ", "cluster, theirs", "ours  ")
    table, places = table_of(one), range(len(rows))
    met: list[tuple[Any, ...]] = [(str(i + 1), names[i], *(table.cell(j, i) for j in places)) for i in places]
    return [
        ResultTable(title="Official results (Table 6)", columns=columns, rows=tuple(rows)),
        ResultTable(
            title="Head to head, ours (Table 25): how often the column was preferred to the row",
            columns=("", "system", *(str(k + 1) for k in places)),
            rows=tuple(met),
            labels=2,
        ),
    ]


def _official_text(results: Sequence[Result]) -> str:
    theirs, (one,) = read_published(KEY), results
    rows, table = rows_of(one), table_of(one)
    told = theirs["table6"]
    away = max(abs(row.score - score) for row, score in zip(rows, told["scores"], strict=True))
    ranges = sum(
        rank_range(row.rank_low, row.rank_high) == range_ for row, range_ in zip(rows, told["ranges"], strict=True)
    )
    places = [(i, j) for i in range(len(rows)) for j in range(len(rows)) if i != j]
    shares = [
        abs(float(table.cell(j, i).rstrip(STARS)) - float(theirs["table25"]["rows"][i][j].rstrip(STARS)))
        for i, j in places
    ]
    same = sum(share < 0.005 for share in shares)
    decided, published = one.measured["decided"], theirs["table2"]["fr-en"]["rankings"]
    ordered = list(short_names([row.system for row in rows]).values()) == list(names_in_log())
    one_side, two_sides = count_stars(one), count_stars(one, sides=2)
    return fill_text(
        "official",
        decided=f"{decided:,}",
        published=f"{published:,}",
        order="is" if ordered else "is not",
        away=f"{away:.4f}",
        ranges=str(ranges),
        systems=str(len(rows)),
        runs=f"{theirs['setup']['runs']:,}",
        same=str(same),
        shares=str(len(shares)),
        furthest=f"{max(shares):.2f}",
        stars=stars_sentence(),
        one_side=str(one_side.same),
        pairs=str(one_side.pairs),
        two_sides=str(two_sides.same),
        sides="it probably has one" if one_side.same > two_sides.same else "we cannot tell",
    )


SECTIONS = (
    Section(
        name="annotators",
        title="Agreement of judges and control items (Tables 3 to 5)",
        paper=KEY,
        experiment="annotators",
        file=LOG,
        tables=_agreement_tables,
        text=_agreement_text,
        claims=_agreement_claims,
        caption="Agreement by group of judges and by the threshold of controls",
    ),
    Section(
        name="official",
        title="Official ranking and head to head (Tables 6 and 25)",
        paper=KEY,
        experiment="official",
        file=LOG,
        tables=_official_tables,
        text=_official_text,
        caption="Head to head of the systems of WMT13 French-English",
    ),
)
