"""Matches of several systems: Tables 3 and 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from reproduction.papers import read_published
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.sakaguchi.paper import KEY, WMT13, claim
from streams.lab.experiments import Result, ResultTable
from streams.lab.protocols.learners import SELECTS
from streams.lab.running.tables import estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Claim


def _ways_tables(results: Sequence[Result]) -> list[ResultTable]:
    tables = []
    for fixed, key, title in (("matches", "table3", "Table 3"), ("pairs", "table4", "Table 4")):
        theirs = read_published(KEY)[key]
        group = group_by(results, "fixed")[fixed]
        ours = {ways: estimate_by(some, "accuracy", "size") for ways, some in group_by(group, "ways").items()}
        rows = tuple(
            (size, *(part for ways in ours for part in (theirs["ways"][str(ways)][k], ours[ways].get(size))))
            for k, size in enumerate(theirs["sizes"])
        )
        columns = (fixed, *(name for ways in ours for name in (f"N = {ways}, theirs", "ours")))
        tables.append(ResultTable(title=f"{title}: accuracy by number of {fixed}", columns=columns, rows=rows))
    return tables


def _ways_claims(results: Sequence[Result]) -> list[Claim]:
    expectations: tuple[tuple[str, str, Literal["above", "below"]], ...] = (
        ("matches", "table3", "above"),
        ("pairs", "table4", "below"),
    )
    found = []
    for fixed, key, expected in expectations:
        theirs = read_published(KEY)[key]
        for place, size in ((0, theirs["sizes"][0]), (-1, theirs["sizes"][-1])):
            group = [one for one in results if one.cell["fixed"] == fixed and one.cell["size"] == size]
            by_ways = group_by(group, "ways")
            few, many = min(by_ways), max(by_ways)
            found.append(
                claim(
                    fixed,
                    f"accuracy of N = {many} minus N = {few}, {size:,} {fixed}",
                    expected,
                    paired_difference(by_ways[many], by_ways[few], "accuracy"),
                    theirs=theirs["ways"][str(many)][place] - theirs["ways"][str(few)][place],
                    digits=4,
                )
            )
    return found


def _ways_text(results: Sequence[Result]) -> str:
    paper = read_published(KEY)
    same = paper["table3"]["ways"]["2"] == paper["table2"]["all"][SELECTS]
    return fill_text(
        "ways",
        repeats=str(len(group_by(results, "repeat"))),
        column="is TrueSkill of Table 2" if same else "differs from Table 2",
    )


SECTION = Section(
    name="ways",
    title="Matches of two to five systems (Tables 3 and 4)",
    paper=KEY,
    experiment="ways",
    file=WMT13,
    options={"repeats": 100},
    tables=_ways_tables,
    text=_ways_text,
    claims=_ways_claims,
    caption="Accuracy by the number of matches and of pairs, for matches of N systems; errors within repeats",
)
