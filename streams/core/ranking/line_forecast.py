"""Forecast of the lines of a board: which line between two clusters comes next, and after how many judgments.

After f times as many judgments, a difference d with variance V has the variance V / f. Given what is known now, the
difference that will then be measured is distributed as N(d, V (1 - 1 / f)), and it is significant above q sqrt(V / f).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.kernels import differences as at
from streams.core.kernels.normal import upper_tail
from streams.core.ranking.differences import fewest_decided, quantiles_by_decided
from streams.core.ranking.student import student_quantile

if TYPE_CHECKING:
    from streams.core.ranking.differences import Differences
    from streams.core.ranking.ranges import Floats, Ints

LIKELY = 0.7  # probability with which a line is there after the number of judgments that is forecast
_Z_LIKELY = NormalDist().inv_cdf(LIKELY)


@dataclass(frozen=True, kw_only=True)
class NextLine:
    """The missing line of systems in order of score that needs least."""

    growth: float  # factor by which the judgments must grow until the line is likely; inf: that can't be foreseen
    above: int  # the two systems, by place, whose difference needs most of those across the line
    below: int
    place: int  # number of systems above the line


def next_line(order: Ints, score: Floats, differences: Differences, *, confidence: float) -> NextLine | None:
    """Return the missing line that comes first. Return None if all lines are drawn, or there are not two systems.

    `order` are the systems by index, in order of score. A line is drawn if all above it are better than all below it.
    """
    growth, needed = _growths(order, score, differences, confidence=confidence)
    missing = np.flatnonzero(needed > 1.0)
    if not len(missing):
        return None
    line = 1 + int(missing[needed[missing].argmin()])
    above, below = divmod(int(growth[:line, line:].argmax()), len(order) - line)
    return NextLine(growth=float(needed[line - 1]), above=above, below=line + below, place=line)


def line_growth(order: Ints, score: Floats, differences: Differences, *, place: int, confidence: float) -> float:
    """Return the growth that the line below so many systems needs. It is 1 if it is drawn."""
    return float(_growths(order, score, differences, confidence=confidence)[1][place - 1])


def line_probability(
    order: Ints, score: Floats, differences: Differences, *, growth: float, confidence: float
) -> float:
    """Return the probability that the likeliest missing line is there when the judgments have grown by a factor.

    `order` are the systems by index, in order of score. A line is as likely as the least likely of the differences
    across it. The result is 0 if no line is missing.
    """
    score, differences = score[order], differences.select(order)
    better = differences.surely_better(score, confidence)
    missing = _across(np.where(better, 0.0, 1.0)) > 0.0
    if not missing.any():
        return 0.0
    quantile, known = _later_quantile(differences, growth=growth, confidence=confidence)
    spread = np.sqrt(max(1.0 - 1.0 / growth, 1e-12))
    reached = (_distance(score, differences) - quantile / np.sqrt(growth)) / spread
    least = -_across(-np.where(better, np.inf, np.where(known, reached, -np.inf)))
    return 1.0 - upper_tail(float(least[missing].max()))


def _across(values: Floats) -> Floats:
    """Return, for each line, the largest value of a system above with a system below."""
    if len(values) < 2:
        return np.zeros(0)
    above = np.maximum.accumulate(values, axis=0)
    both = np.maximum.accumulate(above[:, ::-1], axis=1)[:, ::-1]
    found: Floats = np.diagonal(both, 1).copy()
    return found


def _distance(score: Floats, differences: Differences) -> Floats:
    """Return each difference in units of its deviation."""
    gap = score[:, None] - score[None, :]
    deviation = np.sqrt(differences.variance)
    certain = np.where(gap > 0.0, np.inf, 0.0)
    found: Floats = np.divide(gap, deviation, out=certain, where=deviation > 0.0)
    return found


def _later_quantile(differences: Differences, *, growth: float, confidence: float) -> tuple[Floats, np.ndarray]:
    """Return the quantile of each difference when the judgments have grown, and whether they are enough for one."""
    quantile = differences.quantile(confidence)
    if differences.decided is None:
        return quantile, np.isfinite(quantile)
    fewest = fewest_decided(confidence)
    fewer = np.minimum(differences.decided[:, None], differences.decided[None, :])
    first = student_quantile(fewest - 1, confidence)
    return np.where(np.isfinite(quantile), quantile, first), fewer * growth >= fewest


def _growths(order: Ints, score: Floats, differences: Differences, *, confidence: float) -> tuple[Floats, Floats]:
    """Return the growth at which each difference of systems, by place in order, is LIKELY significant, and each line.

    Only those of a system with one below it are filled in.
    """
    size, fewest = len(order), 0.0 if differences.decided is None else float(fewest_decided(confidence))
    growth, lines = np.empty((size, size)), np.empty((2, size))
    kernels.suited("differences", size * size).line_growths(
        order,
        score,
        differences.evidence,
        differences.variance,
        _quantiles(differences.freedom, confidence, differences.decided is None),
        _Z_LIKELY,
        fewest,
        growth,
        lines,
    )
    return growth, lines[at.NEEDED, : max(size - 1, 0)]


@cache
def _quantiles(freedom: int | None, confidence: float, any_number: bool) -> Floats:
    """Return the quantiles of now and, where few judgments have none, those of later."""
    now = quantiles_by_decided(freedom, confidence, any_number)
    if any_number:
        return np.array([now, now])
    first = student_quantile(fewest_decided(confidence) - 1, confidence)
    return np.array([now, np.where(np.isfinite(now), now, first)])
