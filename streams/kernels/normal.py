"""The truncated normal: its mass, mean and variance, without underflow."""

from __future__ import annotations

from math import erfc, exp, expm1, sqrt

from streams.kernels import jit

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
