"""Item information of segments: Figure 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.section import Section, fill_text, read_published
from reproduction.sections.otani.paper import KEY, WMT13
from streams.lab.experiments.items import Items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.lab.experiments import Result


def _items_text(results: Sequence[Result]) -> str:
    theirs = read_published(KEY)["figure5"]
    table = Items().tables(results)[0]
    hard, easy = table.rows[0], table.rows[-1]
    return fill_text(
        "items",
        their_hard=theirs["hard"]["segment"],
        their_hard_peak=str(theirs["hard"]["peak"]),
        their_easy=theirs["easy"]["segment"],
        their_easy_peak=str(theirs["easy"]["peak"]),
        hard=str(hard[0]),
        hard_peak=f"{hard[4]:.2f}",
        easy=str(easy[0]),
        easy_peak=f"{easy[4]:.2f}",
    )


SECTION = Section(
    name="items",
    title="Item information of segments (Figure 5)",
    paper=KEY,
    experiment="items",
    file=WMT13,
    options={"repeats": 6},
    tables=lambda results: Items().tables(results)[:1],
    text=_items_text,
    caption="Item information of the forty segments judged most, by theta",
)
