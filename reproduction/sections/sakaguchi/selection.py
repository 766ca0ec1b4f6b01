"""Which pairs are requested: Figures 5 to 7."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from reproduction.papers import read_published
from reproduction.section import Section, fill_text, paired_difference
from reproduction.sections.sakaguchi.paper import KEY, WMT13, claim
from streams.lab.experiments import Estimate, Result
from streams.lab.experiments.selection import NEAR, Selection
from streams.lab.running.tables import group_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Claim


SETTINGS = (("wmt", "official settings"), ("printed", "printed settings"))


def _largest(results: Sequence[Result]) -> tuple[int, dict[tuple[str, str], list[Result]]]:
    """Return the largest number of matches, and its results by policy and profile."""
    asked = [one for one in results if one.cell["policy"] != "log"]
    large = max(one.cell["size"] for one in asked)
    return large, group_by([one for one in asked if one.cell["size"] == large], "policy", "profile")


def _mean(results: Sequence[Result], name: str, minus: float = 0.0) -> Estimate:
    return Estimate.of(one.measured[name] - minus for one in results)


def _selection_claims(results: Sequence[Result]) -> list[Claim]:
    large, groups = _largest(results)
    log = np.array(next(one for one in results if one.cell["policy"] == "log").measured["all"])
    count = len(log)
    even = sum(2 * (count - apart) for apart in range(1, NEAR + 1)) / (count * (count - 1))
    near = f"share of matches at most {NEAR} ranks apart"
    apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    share = float(log[apart <= NEAR].sum() / log.sum())
    error = float(np.sqrt(share * (1.0 - share) / (log.sum() / 2)))
    found = [claim("uniform-log", f"{near}: the log minus uniform pairs", "equal", Estimate(share - even, error, 1))]
    for profile, settings in SETTINGS:
        paper = groups["variance", profile]
        late = Estimate.of(one.measured["near_late"] - one.measured["near_early"] for one in paper)
        found += [
            claim(
                "uniform-first",
                f"{near}: first fifth minus uniform pairs, {settings}",
                "equal",
                _mean(paper, "near_early", even),
            ),
            claim("diagonal", f"{near}: last fifth minus first fifth, {settings}", "above", late),
            claim("bulk", f"{near}: last fifth minus one half, {settings}", "above", _mean(paper, "near_late", 0.5)),
        ]
    asked = [one for one in results if one.cell["policy"] != "log"]
    by_settings = group_by(asked, "policy", "profile", "size")
    found += [
        claim(
            "less-data",
            f"Kendall's tau with the whole log: chosen minus uniform pairs, {size:,} matches, {settings}",
            "above",
            paired_difference(by_settings["variance", profile, size], by_settings["uniform", profile, size], "tau"),
        )
        for profile, settings in SETTINGS
        for size in (min(one.cell["size"] for one in asked), large)
    ]
    return sorted(found, key=lambda one: [each.quote for each in found].index(one.quote))


def _selection_text(results: Sequence[Result]) -> str:
    _, groups = _largest(results)
    log = np.array(next(one for one in results if one.cell["policy"] == "log").measured["all"])
    spread = {profile: _mean(groups["variance", profile], "spread") for profile in ("wmt", "printed")}
    return fill_text(
        "selection",
        row=str(read_published(KEY)["heat_maps"]["late_row"]),
        rank=str(int(log.sum(axis=1).argmin()) + 1),
        spread=spread["wmt"].text(2),
        factor=f"{exp(spread['wmt'].mean):.1f}",
        printed_spread=spread["printed"].text(2),
        printed_factor=f"{exp(spread['printed'].mean):.1f}",
        ours=_mean(groups["information", "online"], "near_late").text(),
    )


SECTION = Section(
    name="selection",
    title="Which pairs are requested (Figures 5 to 7)",
    paper=KEY,
    experiment="selection",
    file=WMT13,
    options={"repeats": 20, "profiles": ["wmt", "printed", "online"]},
    tables=lambda results: Selection().tables(results),
    text=_selection_text,
    claims=_selection_claims,
    caption="Meetings in the log, in the first and the last fifth of TrueSkill's matches; Kendall's tau by policy",
)
