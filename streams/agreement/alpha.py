"""Krippendorff's alpha: agreement of any number of judges per unit, on verdicts or on scores, with bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints

Level = Literal["interval", "ordinal"]

RESAMPLES = 1000
SEED = 1
_BOUNDS = (2.5, 97.5)  # per cent
_RESAMPLED_TOGETHER = 2**22  # weights


class Alpha(NamedTuple):
    """The value with its 95 % bounds, and the number of units with two judges or more. NaN: it is not defined."""

    value: float
    low: float
    high: float
    units: int


def nominal_alpha(counts: Ints, groups: Ints) -> Alpha:
    """Return alpha of a table: one row per unit, one column per category, how many judges chose it.

    alpha = 1 - D_o / D_e. D_o is the share of pairs of values within a unit that differ, and D_e that of all values
    (Krippendorff 2011). Units with one judge are left out. The bounds are by bootstrap over groups of units.

    >>> counts = np.array([[3, 0], [0, 3], [2, 1]])
    >>> round(nominal_alpha(counts, np.arange(3)).value, 3)
    0.6
    """
    judges = counts.sum(axis=1)
    counts, groups, judges = counts[judges > 1], groups[judges > 1], judges[judges > 1]
    differing = (judges * judges - (counts * counts).sum(axis=1)) / np.maximum(judges - 1, 1)
    return _with_bounds(np.column_stack([differing, judges, counts]).astype(np.float64), groups, _nominal)


def outcome_alpha(counts: Ints, segments: Ints) -> Alpha:
    """Return alpha of `outcome_counts`, with P(better) = P(worse): every item counts in both directions."""
    return nominal_alpha(np.concatenate([counts, counts[:, ::-1]]), np.concatenate([segments, segments]))


def item_segments(pairs: Pairs) -> Ints:
    """Return the segment of each row of `outcome_counts`."""
    _, first = np.unique(pairs.items()[0], return_index=True)
    segments: Ints = pairs.segment[first]
    return segments


def score_alpha(units: Ints, values: Floats, groups: Ints, *, level: Level) -> Alpha:
    """Return alpha of scores, each with its unit and the group of its unit. A judge scores a unit once.

    The difference of two scores is (a - b)². On the ordinal level, a and b are the mean ranks of the scores.

    >>> units, values = np.array([0, 0, 1, 1, 2, 2]), np.array([1.0, 2.0, 5.0, 5.0, 9.0, 8.0])
    >>> round(score_alpha(units, values, units, level="interval").value, 3)
    0.967
    """
    _, unit, number = np.unique(units, return_inverse=True, return_counts=True)
    several = number[unit] > 1
    _, first, unit = np.unique(units[several], return_index=True, return_inverse=True)
    chosen = values[several]
    if level == "ordinal" and len(chosen):
        _, place, equal = np.unique(chosen, return_inverse=True, return_counts=True)
        chosen = (np.cumsum(equal) - (equal - 1) / 2.0)[place]
    chosen = chosen - chosen.mean() if len(chosen) else chosen  # so that no digits are lost in the squares
    judges, total, squares = (
        np.bincount(unit, weight, len(first)) for weight in (np.ones_like(chosen), chosen, chosen * chosen)
    )
    within = 2.0 * (judges * squares - total * total) / np.maximum(judges - 1.0, 1.0)
    return _with_bounds(np.column_stack([within, judges, total, squares]), groups[several][first], _interval)


def _nominal(sums: Floats) -> Floats:
    observed, number, counts = sums[:, 0], sums[:, 1], sums[:, 2:]
    return _alpha(observed, number, number * number - (counts * counts).sum(axis=1))


def _interval(sums: Floats) -> Floats:
    observed, number, total, squares = sums.T
    return _alpha(observed, number, 2.0 * (number * squares - total * total))


def _alpha(observed: Floats, number: Floats, expected: Floats) -> Floats:
    """Return 1 - (observed / n) / (expected / n (n - 1)), or NaN if all values are equal."""
    found: Floats = np.full_like(observed, np.nan)
    np.divide(observed * (number - 1.0), expected, out=found, where=expected > 1e-12)
    return 1.0 - found


def _with_bounds(terms: Floats, groups: Ints, alpha: Callable[[Floats], Floats]) -> Alpha:
    """Return alpha of the sums over all units, whose bounds come from drawing whole groups of units again."""
    if not len(terms):
        return Alpha(float("nan"), float("nan"), float("nan"), 0)
    value = float(alpha(terms.sum(axis=0)[None, :])[0])
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2 or np.isnan(value):
        return Alpha(value, float("nan"), float("nan"), len(terms))
    sums = np.column_stack([np.bincount(group, column, len(names)) for column in terms.T])
    random = np.random.default_rng(SEED)
    chances = np.full(len(names), 1.0 / len(names))
    step = max(1, _RESAMPLED_TOGETHER // len(names))
    found = [
        alpha(random.multinomial(len(names), chances, min(step, RESAMPLES - done)).astype(np.float64) @ sums)
        for done in range(0, RESAMPLES, step)
    ]
    drawn = np.concatenate(found)
    low, high = np.percentile(drawn[~np.isnan(drawn)], _BOUNDS) if not np.isnan(drawn).all() else (np.nan, np.nan)
    return Alpha(value, float(low), float(high), len(terms))
