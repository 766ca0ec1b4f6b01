"""Rankings rated by the `trueskill` package itself, for TrueSkill with `engine: package`.

The functions have the arguments of the kernels `pairs.rate_rankings` and `freeforall.rate_matches`. The package is
imported when the first judgment is rated. docs/decisions.md says why it gets its normal functions from here.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from math import erfc, exp, inf, isfinite, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from streams.core import kernels
from streams.core.kernels.freeforall import learn_from_match
from streams.core.kernels.pairs import margin_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models.base import Floats, Ints

MIN_DELTA = 1e-10  # the package stops at changes below 1e-4 by default, and in any case after ten sweeps
FAR = 35.0  # deviations below the mean; beyond it the tail loses digits, and underflows at 38
NARROW = 1e-6  # of the spread of a difference; the two ends of a narrower margin cancel


def rate_rankings(
    mean: Floats, variance: Floats, margins: Floats, systems: Ints, ranks: Ints, starts: Ints, judges: Ints, beta: float
) -> int:
    """Apply rankings in order, each as its pairs. Return the number of pairs that the package could not rate."""
    table = _Package(beta, margins)
    left = 0
    for shown, given, judge in _rankings(systems, ranks, starts, judges):
        for a in range(len(shown)):
            for b in range(a + 1, len(shown)):
                left += not table.rate(mean, variance, (shown[a], shown[b]), (given[a], given[b]), judge)
    return left


def rate_matches(
    mean: Floats, variance: Floats, margins: Floats, systems: Ints, ranks: Ints, starts: Ints, judges: Ints, beta: float
) -> int:
    """Apply rankings in order, each as one match. Return the number of matches that the package could not rate."""
    table = _Package(beta, margins)
    rankings = _rankings(systems, ranks, starts, judges)
    return sum(not table.rate(mean, variance, shown, given, judge) for shown, given, judge in rankings)


def _rankings(systems: Ints, ranks: Ints, starts: Ints, judges: Ints) -> list[tuple[list[int], list[int], int]]:
    return [
        (systems[start:stop].tolist(), ranks[start:stop].tolist(), judge)
        for (start, stop), judge in zip(pairwise(starts.tolist()), judges.tolist(), strict=True)
    ]


class _Package:
    """An environment of the package without dynamics, with normal functions of full precision."""

    def __init__(self, beta: float, margins: Floats) -> None:
        self._beta, self._margins = beta, margins
        self._margin = 0.0  # of the match that is rated
        with warnings.catch_warnings():
            # A docstring of the package has an escape that Python warns about when there is no bytecode of it yet.
            warnings.simplefilter("ignore")
            from trueskill import TrueSkill

        # The package turns a share of ties into the margin with the third function. It is given the margin as it is,
        # because the margin changes with every match, and because for a wide one the share would round to 1.
        functions = (_cumulative, _density, lambda _: self._margin / (sqrt(2.0) * beta))
        self._table: Any = TrueSkill(mu=0.0, sigma=1.0, beta=beta, tau=0.0, draw_probability=0.5, backend=functions)

    def rate(self, mean: Floats, variance: Floats, shown: Sequence[int], given: Sequence[int], judge: int) -> bool:
        """Update the margins and the systems of one match. Return False if the kernel had to rate the systems."""
        row = margin_row(self._margins, judge, self._beta)
        self._margin = float(self._margins[row, 0])
        learn_from_match(self._margins, row, mean, variance, shown, given, 0, len(shown), self._beta)
        before = [(float(mean[i]), float(variance[i])) for i in shown]
        try:
            rated = self._rated(before, given)
        except (ArithmeticError, ValueError):
            starts, fixed = np.array([0, len(shown)]), np.array([[self._margin, inf]])
            rate = kernels.suited("freeforall", len(shown)).rate_matches
            rate(mean, variance, fixed, np.array(shown), np.array(given), starts, np.zeros(1, np.int64), self._beta)
            return False
        for i, (middle, spread) in zip(shown, rated, strict=True):
            mean[i], variance[i] = middle, spread
        return True

    def _rated(self, before: list[tuple[float, float]], given: Sequence[int]) -> list[tuple[float, float]]:
        """Return mean and variance of the systems after a match, or raise if the package lost digits."""
        widest = 2.0 * (self._beta**2 + max(spread for _, spread in before))
        if self._margin < NARROW * sqrt(widest) and len(set(given)) < len(given):
            raise FloatingPointError("the margin is too narrow for the package to rate a tie")
        ratings = [(self._table.create_rating(middle, sqrt(spread)),) for middle, spread in before]
        rated = [(one.mu, one.sigma**2) for (one,) in self._table.rate(ratings, ranks=given, min_delta=MIN_DELTA)]
        for (middle, spread), (_, most) in zip(rated, before, strict=True):
            if not isfinite(middle) or not 0.0 < spread <= most * (1.0 + 1e-9):
                raise FloatingPointError("the package lost the digits of a rating")
        return rated


def _cumulative(x: float) -> float:
    if x < -FAR:
        raise FloatingPointError(f"{x} is too far below the mean")
    return 0.5 * erfc(-x / sqrt(2.0))


def _density(x: float) -> float:
    return exp(-0.5 * x * x) / sqrt(2.0 * pi)
