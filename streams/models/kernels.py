"""The hot loops: plain functions on arrays, run as they are or compiled by numba to the same bits.

`plain` costs nothing to load and some microseconds an update; `compiled()` takes a second to load and
some ten nanoseconds an update. Both are made from the functions below, so there is one of each.
"""

from __future__ import annotations

import importlib.util
import sys
from math import erfc, exp, expm1, sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

# compiled() executes this file once more with numba's decorator in this place.
jit: Callable[..., Any] = globals().get("jit", lambda function: function)

SQRT_2 = sqrt(2.0)
NORM = 0.3989422804014327  # 1 / sqrt(2 pi)
FAR = 35.0  # beyond it the normal density and its tail underflow; the asymptotic series is exact there


@jit
def mills(x: float) -> float:
    """Give the normal tail over the normal density at x: (1 - Phi(x)) / N(x)."""
    if x > FAR:
        z = 1.0 / (x * x)
        return (1.0 - z * (1.0 - 3.0 * z * (1.0 - 5.0 * z))) / x
    return 0.5 * erfc(x / SQRT_2) / (NORM * exp(-0.5 * x * x))


@jit
def win_moments(x: float) -> tuple[float, float]:
    """Give v and w of TrueSkill for a win, at x = t - e."""
    if x > FAR:
        return 0.0, 0.0
    v = 1.0 / mills(-x)
    return v, min(max(v * (v + x), 0.0), 1.0)


@jit
def tie_moments(t: float, e: float) -> tuple[float, float]:
    """Give v and w of TrueSkill for a tie, with t >= 0, scaled by N(t - e) so that no tail underflows."""
    if e <= 0.0:
        return -t, 1.0
    low, high = t - e, t + e
    if low < -FAR:
        return 0.0, 0.0
    ratio = exp(-2.0 * t * e)  # N(high) / N(low)
    mass = mills(low) - ratio * mills(high)
    if mass <= 0.0:
        return -t, 1.0
    v = expm1(-2.0 * t * e) / mass
    w = v * v + (ratio * high - low) / mass
    return v, min(max(w, 0.0), 1.0)


@jit
def rate_pair(mean: Any, variance: Any, i: int, j: int, order: int, beta: float, margin: float) -> None:
    """Update systems i and j in place; order is below 0 if i is better, above if j is, 0 if tied."""
    if order > 0:
        i, j = j, i
    s_i, s_j = variance[i], variance[j]
    c2 = 2.0 * beta * beta + s_i + s_j
    c = sqrt(c2)
    t = (mean[i] - mean[j]) / c
    if order != 0:
        v, w = win_moments(t - margin / c)
    elif t >= 0.0:
        v, w = tie_moments(t, margin / c)
    else:
        v, w = tie_moments(-t, margin / c)
        v = -v
    mean[i] += s_i / c * v
    mean[j] -= s_j / c * v
    variance[i] = s_i * (1.0 - s_i / c2 * w)
    variance[j] = s_j * (1.0 - s_j / c2 * w)


@jit
def rate_rankings(mean: Any, variance: Any, systems: Any, ranks: Any, starts: Any, beta: float, margin: float) -> None:
    """Apply rankings in order; one of n systems counts as its n (n - 1) / 2 pairs."""
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                rate_pair(mean, variance, systems[a], systems[b], ranks[a] - ranks[b], beta, margin)


@jit
def count_rankings(wins: Any, ties: Any, touched: Any, systems: Any, ranks: Any, starts: Any) -> None:
    """Count the outcomes of each pair: wins[i, j] of i over j, ties on both sides; mark it at [lower, upper]."""
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                i, j = systems[a], systems[b]
                touched[min(i, j), max(i, j)] = True
                if ranks[a] < ranks[b]:
                    wins[i, j] += 1
                elif ranks[a] > ranks[b]:
                    wins[j, i] += 1
                else:
                    ties[i, j] += 1
                    ties[j, i] += 1


_COMPILED = f"{__name__}_compiled"


def plain() -> ModuleType:
    """Give the functions as they stand."""
    return sys.modules[__name__]


def compiled() -> ModuleType:
    """Give the functions compiled; the first call loads numba, later starts take them from its cache."""
    if _COMPILED not in sys.modules:
        from numba import njit

        spec = importlib.util.spec_from_file_location(_COMPILED, __file__)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        module.__dict__["jit"] = njit(cache=True, nogil=True)
        spec.loader.exec_module(module)
        sys.modules[_COMPILED] = module
    return sys.modules[_COMPILED]


def suited(updates: int) -> ModuleType:
    """Choose for a batch: compiled where it is loaded already or where so many updates repay its loading."""
    return compiled() if _COMPILED in sys.modules or updates >= 200_000 else plain()
