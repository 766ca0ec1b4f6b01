"""Rankings rated by the `trueskill` package itself, for TrueSkill with `engine: package`.

The functions have the arguments of the kernels `pairs.rate_rankings` and `freeforall.rate_matches`. The package is
imported when the first judgment is rated. docs/decisions.md says why it gets its normal functions from here.
"""

from __future__ import annotations

import warnings
from functools import cache
from itertools import pairwise
from math import erf, erfc, exp, isfinite, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from streams.core import kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models.base import Floats, Ints

MIN_DELTA = 1e-10  # the package stops at changes below 1e-4 by default, and in any case after ten sweeps
FAR = 35.0  # deviations below the mean; beyond it the tail loses digits, and underflows at 38
NARROW = 1e-6  # of the spread of a difference; the two ends of a narrower margin cancel


def rate_rankings(
    mean: Floats, variance: Floats, systems: Ints, ranks: Ints, starts: Ints, beta: float, margin: float
) -> int:
    """Apply rankings in order, each as its pairs. Return the number of pairs that the package could not rate."""
    table = _environment(beta, margin)
    left = 0
    for shown, given in _rankings(systems, ranks, starts):
        for a in range(len(shown)):
            for b in range(a + 1, len(shown)):
                pair, order = (shown[a], shown[b]), (given[a], given[b])
                left += not _rate_match(table, mean, variance, pair, order, margin)
    return left


def rate_matches(
    mean: Floats, variance: Floats, systems: Ints, ranks: Ints, starts: Ints, beta: float, margin: float
) -> int:
    """Apply rankings in order, each as one match. Return the number of matches that the package could not rate."""
    table = _environment(beta, margin)
    rankings = _rankings(systems, ranks, starts)
    return sum(not _rate_match(table, mean, variance, shown, given, margin) for shown, given in rankings)


def _rankings(systems: Ints, ranks: Ints, starts: Ints) -> list[tuple[list[int], list[int]]]:
    return [(systems[start:stop].tolist(), ranks[start:stop].tolist()) for start, stop in pairwise(starts.tolist())]


def _rate_match(
    table: Any, mean: Floats, variance: Floats, shown: Sequence[int], given: Sequence[int], margin: float
) -> bool:
    """Update the systems of one match in place. Return False if the package failed and the kernel rated it."""
    before = [(float(mean[i]), float(variance[i])) for i in shown]
    try:
        widest = 2.0 * (table.beta**2 + max(spread for _, spread in before))
        if margin < NARROW * sqrt(widest) and len(set(given)) < len(given):
            raise FloatingPointError("the margin is too narrow for the package to rate a tie")
        ratings = [(table.create_rating(middle, sqrt(spread)),) for middle, spread in before]
        rated = [(one.mu, one.sigma**2) for (one,) in table.rate(ratings, ranks=given, min_delta=MIN_DELTA)]
        for (middle, spread), (_, most) in zip(rated, before, strict=True):
            if not isfinite(middle) or not 0.0 < spread <= most * (1.0 + 1e-9):
                raise FloatingPointError("the package lost the digits of a rating")
    except (ArithmeticError, ValueError):
        starts = np.array([0, len(shown)])
        rate = kernels.suited("freeforall", len(shown)).rate_matches
        rate(mean, variance, np.array(shown), np.array(given), starts, table.beta, margin)
        return False
    for i, (middle, spread) in zip(shown, rated, strict=True):
        mean[i], variance[i] = middle, spread
    return True


@cache
def _environment(beta: float, margin: float) -> Any:
    """Return an environment of the package without dynamics, with normal functions of full precision."""
    with warnings.catch_warnings():
        # A docstring of the package has an escape that Python warns about when there is no bytecode of it yet.
        warnings.simplefilter("ignore")
        from trueskill import TrueSkill

    limit = margin / (sqrt(2.0) * beta)
    # The package turns the share of ties back into the margin with the third function. For a wide margin the share
    # rounds to 1, so the margin is passed as it is.
    functions = (_cumulative, _density, lambda _: limit)
    return TrueSkill(mu=0.0, sigma=1.0, beta=beta, tau=0.0, draw_probability=erf(limit / sqrt(2.0)), backend=functions)


def _cumulative(x: float) -> float:
    if x < -FAR:
        raise FloatingPointError(f"{x} is too far below the mean")
    return 0.5 * erfc(-x / sqrt(2.0))


def _density(x: float) -> float:
    return exp(-0.5 * x * x) / sqrt(2.0 * pi)
