"""Item information of segments: Figure 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction.papers import read_published
from reproduction.section import Section, fill_text
from reproduction.sections.otani.paper import KEY, WMT13, claim
from streams.lab.experiments import Estimate, Result
from streams.lab.experiments.items import Items, information

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.claims import Claim


def _told(result: Result, place: int) -> float:
    """Return the information of a segment about the weakest system, as a share of the most that it tells."""
    thresholds = np.array(result.measured["thresholds"][place])
    theta = np.linspace(thresholds[0] - 2.0, thresholds[1] + 2.0, 401)
    weakest = np.array([min(result.measured["theta"])])
    return float(information(weakest, thresholds)[0] / information(theta, thresholds).max())


def _hardest_and_easiest(results: Sequence[Result]) -> tuple[int, int]:
    means = np.mean([one.measured["thresholds"] for one in results], axis=(0, 2))
    return int(means.argmax()), int(means.argmin())


def _items_claims(results: Sequence[Result]) -> list[Claim]:
    hard, easy = _hardest_and_easiest(results)
    names = results[0].measured["names"]
    shares = {place: [_told(one, place) for one in results] for place in (hard, easy)}
    less = (first - second for first, second in zip(shares[hard], shares[easy], strict=True))
    return [
        claim(
            "low-theta",
            f"information about the weakest system, as a share of the peak: segment {names[hard]} minus {names[easy]}",
            "below",
            Estimate.of(less),
            digits=2,
        )
    ]


def _items_text(results: Sequence[Result]) -> str:
    paper = read_published(KEY)
    theirs = paper["figure5"]
    table = Items().tables(results)[0]
    hard, easy = table.rows[0], table.rows[-1]
    share = Estimate.of(_told(one, _hardest_and_easiest(results)[0]) for one in results)
    return fill_text(
        "items",
        their_draws=str(theirs["draws"]),
        draws=str(len(results)),
        their_hard=theirs["hard"]["segment"],
        their_hard_peak=str(theirs["hard"]["peak"]),
        their_easy=theirs["easy"]["segment"],
        their_easy_peak=str(theirs["easy"]["peak"]),
        hard=str(hard[0]),
        hard_peak=f"{hard[4]:.2f}",
        easy=str(easy[0]),
        easy_peak=f"{easy[4]:.2f}",
        share=share.text(2),
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
    claims=_items_claims,
    caption="Item information of the forty segments judged most, by theta",
)
