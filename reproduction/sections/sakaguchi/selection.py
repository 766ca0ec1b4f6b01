"""Which pairs are requested: Figures 5 to 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.section import Section, fill_text, format_signed, paired_difference
from reproduction.sections.sakaguchi.paper import KEY, WMT13
from streams.lab.experiments import Estimate, Result
from streams.lab.experiments.selection import Selection
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence


def _selection_text(results: Sequence[Result]) -> str:
    asked = [one for one in results if one.cell["policy"] != "log"]
    large = max(one.cell["size"] for one in asked)
    groups = group_by([one for one in asked if one.cell["size"] == large], "policy", "profile")
    paper = groups["variance", "wmt"]
    near = {name: Estimate.of(one.measured[name] for one in paper) for name in ("near_early", "near_late")}
    tau = paired_difference(paper, groups["uniform", "wmt"], "tau")
    accuracy = paired_difference(paper, groups["uniform", "wmt"], "accuracy")
    ours = groups["information", "online"]
    late = Estimate.of(one.measured["near_late"] for one in ours)
    return fill_text(
        "selection",
        early=near["near_early"].text(),
        late=near["near_late"].text(),
        large=f"{large:,}",
        accuracy=format_signed(accuracy),
        tau=format_signed(tau, 3),
        ours=late.text(),
    )


SECTION = Section(
    name="selection",
    title="Which pairs are requested (Figures 5 to 7)",
    paper=KEY,
    experiment="selection",
    file=WMT13,
    options={"repeats": 20},
    tables=lambda results: Selection().tables(results),
    text=_selection_text,
    caption="Meetings in the log, in the first and the last fifth of TrueSkill's matches; Kendall's tau by policy",
)
