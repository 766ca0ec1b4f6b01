"""Writes tables of results into docs/performance.md, between markers, and draws its pictures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.capacity import capacity_tables
from benchmarks.growth import BOARD, COST, RECOVERY
from streams.bench.figures import missed
from streams.bench.tables import format_goal, format_number, markdown_table, section_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from streams.bench.figures import Section

MARKED = re.compile(r"(<!-- figures: ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)
KINDS = ("judgments", "systems", "judges", "campaigns")
COLOURS = {COST: "#0072b2", BOARD: "#d55e00", RECOVERY: "#009e73"}


def write_tables(page: str, sections: Mapping[str, Section]) -> str:
    """Return the page with the tables of these sections between its markers."""

    def replace(found: re.Match[str]) -> str:
        begin, name, end = found.groups()
        return f"{begin}{_table(name, sections)}\n{end}"

    return MARKED.sub(replace, page)


def _table(name: str, sections: Mapping[str, Section]) -> str:
    if name == "capacity":
        return capacity_tables(sections)
    if name == "goals":
        return goals_table(sections)
    if name not in sections:
        return "Not measured yet."
    return section_table(sections[name])


def goals_table(sections: Mapping[str, Section]) -> str:
    """Return how many goals are met, and every one that is missed."""
    having = [figure for section in sections.values() for figure in section.figures if figure.is_met is not None]
    head = f"{sum(bool(each.is_met) for each in having)} of {len(having)} goals are met."
    body = [
        (name, each.name, f"{format_number(each.median)} {each.unit}", format_goal(each))
        for name, section in sections.items()
        for each in missed(section.figures)
    ]
    unsure = [name for name, section in sections.items() if section.quick or not section.machine.is_quiet]
    if unsure:
        head += f" Not final, because of short runs or a busy machine: {', '.join(unsure)}."
    return f"{head}\n\n{markdown_table(('section', 'missed', 'median', 'goal'), body)}" if body else head


def draw(section: Section, folder: Path) -> None:
    """Draw the curves of the section `growth`: one picture for each quantity that is varied."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    for kind in KINDS:
        names = [name for name in dict.fromkeys(each.name for each in section.figures) if name.endswith(f", by {kind}")]
        with mpl.rc_context({"svg.hashsalt": kind, "svg.fonttype": "none", "font.size": 9}):
            canvas = Figure(figsize=(3.2 * len(names), 2.6), layout="constrained")
            for place, name in enumerate(names, 1):
                axes = canvas.add_subplot(1, len(names), place)
                curve, measure = section.curve(name), name.split(",")[0]
                sizes, medians = [each.size or 0.0 for each in curve], [each.median for each in curve]
                lows, highs = zip(*(each.spread for each in curve), strict=True)
                axes.fill_between(sizes, lows, highs, color=COLOURS[measure], alpha=0.2, linewidth=0)
                axes.plot(sizes, medians, marker="o", markersize=4, color=COLOURS[measure])
                axes.set(title=measure, xlabel=kind, ylabel=curve[0].unit, xscale="log")
                if max(medians) > 20 * min(medians):
                    axes.set_yscale("log")
                else:
                    axes.set_ylim(0, 1.15 * max(highs))
                axes.grid(alpha=0.3)
                axes.spines[["top", "right"]].set_visible(False)
            canvas.savefig(folder / f"growth-{kind}.svg", metadata={"Date": None})
