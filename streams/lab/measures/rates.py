"""Success rates of systems, with bounds and rank ranges from a bootstrap of all observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.ranking import sampled_ranges
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints

RUNS = 1000
BLOCK = 4_000_000  # numbers in memory at a time


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Per system: the share of good observations, half the width of its 95 % interval, and its ranks.

    `counted` is the number of observations, and `counted_bound` half the width of its 95 % interval over resamples.
    """

    rate: Floats
    bound: Floats
    counted: Ints
    counted_bound: Floats
    best: Ints
    worst: Ints
    overall: float
    overall_bound: float


def rates(system: Ints, good: Ints, *, systems: int, runs: int = RUNS, seed: int = 1) -> Rates:
    """Return the rates of systems, with bounds and ranks from resamples of all observations with replacement.

    A resample keeps the total number of observations, not the number per system. The bounds are half the distance
    between the 2.5th and the 97.5th percentile. Rank ranges leave out 2.5 % at each end. WMT13 findings, Table 9.

    >>> found = rates(np.repeat([0, 1], 100), np.repeat([1, 0, 1], [80, 70, 50]), systems=2)
    >>> found.rate.tolist(), found.best.tolist(), found.worst.tolist(), round(float(found.bound[0]), 2)
    ([0.8, 0.5], [1, 2], [1, 2], 0.08)
    """
    if system.shape != good.shape or not len(system):
        raise ParameterError(f"{len(system)} systems and {len(good)} verdicts; pass one of each per observation")
    if len(system) and not 0 <= system.min() <= system.max() < systems:
        raise ParameterError(f"system: {system.min()} to {system.max()}, but it must be from 0 to {systems - 1}")
    cells = np.bincount(2 * system + (good != 0), minlength=2 * systems)
    if not cells.reshape(-1, 2).sum(axis=1).all():
        raise ParameterError("a system has no observations; number only systems that have one")
    random = np.random.default_rng(seed)
    # Drawing observations is the same as drawing the count of each kind of observation.
    block = max(1, BLOCK // len(cells))
    drawn = np.concatenate(
        [
            random.multinomial(len(system), cells / len(system), size=min(block, runs - first))
            for first in range(0, runs, block)
        ]
    ).reshape(runs, systems, 2)
    counted = drawn.sum(axis=2)
    shares = np.divide(drawn[:, :, 1], counted, out=np.zeros(counted.shape), where=counted > 0)
    best, worst = sampled_ranges(shares)
    totals = cells.reshape(-1, 2).sum(axis=1)
    return Rates(
        rate=cells[1::2] / totals,
        bound=_half_width(shares),
        counted=totals,
        counted_bound=_half_width(counted),
        best=best,
        worst=worst,
        overall=float(cells[1::2].sum() / len(system)),
        overall_bound=float(_half_width(drawn[:, :, 1].sum(axis=1) / len(system))),
    )


def _half_width(samples: Floats | Ints) -> Floats:
    low, high = np.percentile(samples, [2.5, 97.5], axis=0)
    width: Floats = 0.5 * (high - low)
    return width
