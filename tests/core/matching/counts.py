"""Pair counts of systems with known abilities, for the policies to choose by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.matching import Meetings

if TYPE_CHECKING:
    from collections.abc import Sequence


def meetings_of(abilities: Sequence[float], *, times: int, seed: int | None = None) -> Meetings:
    """Return counts as expected, each pair having met so often. With a seed they are drawn at random."""
    from scipy.stats import norm

    size = len(abilities)
    wins, ties = np.zeros((2, size, size), np.int64)
    random = np.random.default_rng(seed)
    for a in range(size):
        for b in range(a + 1, size):
            gap = (abilities[a] - abilities[b]) / (2**0.5 * 1.118)
            win, loss = norm.cdf(gap - 0.35), norm.cdf(-gap - 0.35)
            chances = np.array([win, 1.0 - win - loss, loss])
            met = np.rint(times * chances) if seed is None else random.multinomial(times, chances)
            wins[a, b], ties[a, b], wins[b, a] = met
            ties[b, a] = ties[a, b]
    return Meetings(wins, ties)
