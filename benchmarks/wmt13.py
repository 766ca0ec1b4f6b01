"""The official scores of WMT13 French-English, by the names of the log. Benchmarks and tests compare with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.crowd import WMT13_FR_EN, Competition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

# A part of each system's name in the log, in the official order.
NAME_PARTS = (
    *("uedin-heafield", "uedin-wmt13", "online-b", "limsi", "kit", "online-a", "mes"),
    *("dcu", "rwth", "cmu", "cu-zeman", "jhu", "shef"),
)
PUBLISHED = tuple(row.score for row in Competition.load(WMT13_FR_EN).official)


def official_scores(systems: Iterable[str]) -> NDArray[np.float64]:
    """Return the published score of each system, named as in the log."""
    scores = dict(zip(NAME_PARTS, PUBLISHED, strict=True))
    return np.array([next(score for part, score in scores.items() if part in name.lower()) for name in systems])
