"""Bojar et al. (2013): findings of the 2013 Workshop on Statistical Machine Translation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproduction.section import Section, read_published
from streams.lab.experiments import Result, ResultTable
from streams.lab.experiments.annotators import kappas, threshold_rows
from streams.lab.experiments.official import rows_of, table_of
from streams.reports.score_axis import rank_range

if TYPE_CHECKING:
    from collections.abc import Sequence

KEY = "findings2013"
PAPER = "Bojar et al. (2013), findings of WMT13"
NOT_SHOWN = (
    "Our data has one of the ten language pairs, French-English: one column of Tables 2 to 4 and 6, and Table 25 of "
    "Tables 21 to 30. Table 5 is about Russian-English. Our data does not have the judgments of Tables 7 to 9 "
    "(understandability), 11 to 18 (quality estimation) and 19 to 20 (references). Their measures are "
    "`streams.lab.measures.rates`, tested on the counts of Table 9, `streams.lab.measures.delta_avg` and "
    "`streams.lab.measures.segment_tau`."
)
LOG = "wmt13_fr-en_rank.csv.gz"
GROUPS = {"all": "all", "researchers": "researchers", "others": "crowd"}


def _agreement_tables(results: Sequence[Result]) -> list[ResultTable]:
    theirs = read_published("findings2013")
    rows: list[tuple[Any, ...]] = []
    for kind, table in (("inter", "table3"), ("intra", "table4")):
        ours = kappas(results, kind)
        rows += [(kind, name, theirs[table][group], *ours[group]) for group, name in GROUPS.items()]
    columns = ("κ", "judges", "theirs", "ours, rule of WMT15", "ours, strict")
    agreement = ResultTable(title="Agreement (Tables 3 and 4)", columns=columns, rows=tuple(rows), labels=2)
    ours_by = {row.threshold: row for row in threshold_rows(results)}
    five = theirs["table5"]
    passed: list[tuple[Any, ...]] = []
    for threshold, rankings, kappa in zip(five["thresholds"], five["rankings"], five["kappa"], strict=True):
        row = ours_by[threshold]
        passed.append((f"{threshold:.0%}", rankings, kappa, row.comparisons, row.judges, row.kappa))
    heads = ("controls passed", "rankings, ru-en, theirs", "κ, theirs", "comparisons, fr-en, ours", "judges", "κ, ours")
    return [
        agreement,
        ResultTable(title="Agreement of the crowd by threshold (Table 5)", columns=heads, rows=tuple(passed)),
    ]


def _agreement_text(results: Sequence[Result]) -> str:
    theirs = read_published("findings2013")["table3"]
    ours = kappas(results, "inter")
    away = max(min(abs(kappa - theirs[group]) for kappa in ours[group]) for group in GROUPS)
    ordered = all(ours["researchers"][rule] > ours["others"][rule] > ours["all"][rule] for rule in (0, 1))
    order = (
        "As published, researchers agree most, the crowd less, and both groups together least, because the groups also "
        "differ from each other."
        if ordered
        else "The order of the groups differs from the published one."
    )
    everybody, *some = threshold_rows(results)
    enough = [row for row in some if row.kappa is not None and row.comparable >= 1000]
    best = max(enough, key=lambda row: row.kappa or 0.0)
    return (
        f"{order} The findings counted in “a slightly different way” than before, and do not describe it. In each "
        f"group, the nearer of our two rules is within {away:.3f}. The rule of WMT15 treats a pair that was shown in "
        "the other order as another item, and also compares judges with themselves. The strict rule does neither. On "
        "the WMT15 log, the rule of WMT15 gives all 40 published figures, count by count (`judgestream agreement`).\n\n"
        f"The crowd has {everybody.judges} judges, whom the organisers had already tested. {some[0].judges} of them "
        "met ten pairs on which researchers agree by a margin of more than five, and passed half of them. Agreement is "
        f"{everybody.kappa:.3f} among all and {best.kappa:.3f} at a threshold of {best.threshold:.0%}. Above that, too "
        "few outcomes are left to compare. A higher threshold helps a little, as published for another language pair."
    )


def _official_tables(results: Sequence[Result]) -> list[ResultTable]:
    theirs, (one,) = read_published("findings2013")["table6"], results
    rows = [
        (system, score, row.score, told, rank_range(row.rank_low, row.rank_high), row.cluster)
        for system, score, told, row in zip(
            theirs["systems"], theirs["scores"], theirs["ranges"], rows_of(one), strict=True
        )
    ]
    columns = ("system", "Expected Wins, theirs", "ours", "range, theirs", "ours ", "cluster")
    table, places = table_of(one), range(len(rows))
    met: list[tuple[Any, ...]] = [
        (str(i + 1), theirs["systems"][i], *(table.cell(i, j) for j in places)) for i in places
    ]
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
    theirs, (one,) = read_published("findings2013"), results
    rows, table = rows_of(one), table_of(one)
    away = max(abs(row.score - score) for row, score in zip(rows, theirs["table6"]["scores"], strict=True))
    told = zip(rows, theirs["table6"]["ranges"], strict=True)
    ranges = sum(rank_range(row.rank_low, row.rank_high) == range_ for row, range_ in told)
    cells = [(table.cell(i, j), theirs["table25"][i][j]) for i in range(len(rows)) for j in range(len(rows)) if i != j]
    shares = [abs(float(ours.rstrip("⋆†‡")) - float(theirs.rstrip("⋆†‡"))) for ours, theirs in cells]
    same = sum(share < 0.005 for share in shares)
    stars = [(one, other) for one, other in cells if one.lstrip(".0123456789") != other.lstrip(".0123456789")]
    return (
        f"The log has {one.measured['decided']:,} comparisons without ties, as Table 2 says "
        f"({theirs['table2']['fr-en']['rankings']:,}). The order is the official one. No score differs by more than "
        f"{away:.4f}. {ranges} of {len(rows)} rank ranges are the same; both sets come from 1,000 random resamples. In "
        f"the head-to-head table, {same} of {len(cells)} shares are the same, and the others differ by "
        f"{max(shares):.2f}. {len(cells) - len(stars)} have the same star, from a one-sided sign test. The others are "
        f"{_listed(stars)}: the exact test is more conservative."
    )


def _listed(stars: Sequence[tuple[str, str]]) -> str:
    found = sorted({f"{ours} (theirs {told})" for ours, told in stars})
    return ", ".join(found)


SECTIONS = (
    Section(
        name="annotators",
        title="Agreement of judges and control items (Tables 3 to 5)",
        paper=KEY,
        experiment="annotators",
        file=LOG,
        tables=_agreement_tables,
        text=_agreement_text,
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
