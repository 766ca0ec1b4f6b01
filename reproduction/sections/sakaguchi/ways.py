"""Matches of several systems: Tables 3 and 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.section import Section, fill_text, format_signed, paired_difference, read_published
from reproduction.sections.sakaguchi.paper import KEY, WMT13
from streams.lab.experiments import Result, ResultTable
from streams.lab.running.tables import estimate_by, group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def _ways_text(results: Sequence[Result]) -> str:
    small = min(one.cell["size"] for one in results)
    found = {}
    for fixed in ("matches", "pairs"):
        group = [one for one in results if one.cell["fixed"] == fixed and one.cell["size"] == small]
        by_ways = group_by(group, "ways")
        found[fixed] = paired_difference(by_ways[max(by_ways)], by_ways[min(by_ways)], "accuracy")
    return fill_text(
        "ways", small=str(small), **{fixed: format_signed(difference) for fixed, difference in found.items()}
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
    caption="Accuracy by the number of matches and of pairs, for matches of N systems; errors within repeats",
)
