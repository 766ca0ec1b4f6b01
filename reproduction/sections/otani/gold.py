"""The gold scores: how many runs they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.papers import read_published
from reproduction.section import Section, fill_text
from reproduction.sections.otani.paper import KEY, WMT13
from streams.lab.experiments.gold import GoldScores, by_runs
from streams.lab.protocols.gold import RUNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.experiments import Result


def _text(results: Sequence[Result]) -> str:
    found = [one.measured["pearson"] for one in by_runs(results) if one.cell["runs"] == RUNS]
    return fill_text(
        "gold",
        theirs=f"{read_published(KEY)['setup']['gold_runs']:,}",
        ours=str(RUNS),
        mean=f"{sum(found) / len(found):.4f}",
        lowest=f"{min(found):.4f}",
        draws=str(len(found)),
    )


SECTION = Section(
    name="gold",
    title="The gold scores (section 6.1)",
    paper=KEY,
    experiment="gold",
    file=WMT13,
    tables=lambda results: GoldScores().tables(results),
    text=_text,
)
