"""The truncated normal distribution: mass, mean and variance, with full precision and without underflow."""

from __future__ import annotations

from math import erfc, exp, expm1, sqrt

from streams.compiler import jit

SQRT_2 = sqrt(2.0)
HALF_SQRT = sqrt(0.5)
NORM = 0.3989422804014327  # 1 / sqrt(2 pi)
FAR = 20.0  # beyond it the asymptotic series is exact, while density and tail lose digits and then underflow
NARROW = 1e-3  # below it a margin's two tails cancel, while the density within is an exponential


@jit
def tail(x: float) -> tuple[float, float]:
    """Return z = 1 / x² and r for x > FAR, with (1 - Phi(x)) / N(x) = (1 - z r) / x."""
    z = 1.0 / (x * x)
    series = 1.0 - 11.0 * z * (1.0 - 13.0 * z * (1.0 - 15.0 * z))
    return z, 1.0 - 3.0 * z * (1.0 - 5.0 * z * (1.0 - 7.0 * z * (1.0 - 9.0 * z * series)))


@jit
def win_moments(x: float) -> tuple[float, float]:
    """Return v and w of TrueSkill for a win, at x = t - e."""
    if x < -FAR:
        z, r = tail(-x)
        rest = 1.0 - z * r
        return -x / rest, r / (rest * rest)
    v = 2.0 * NORM * exp(-0.5 * x * x) / erfc(-HALF_SQRT * x)
    return v, min(max(v * (v + x), 0.0), 1.0)


@jit
def tie_moments(t: float, e: float) -> tuple[float, float]:
    """Return v and w of TrueSkill for a tie, with t >= 0. Scaling by N(t - e) prevents underflow."""
    if e < NARROW:
        return narrow_tie_moments(t, e)
    low, high = t - e, t + e
    less = expm1(-2.0 * t * e)  # N(high) / N(low) - 1
    if low > FAR:
        if less == -1.0:  # the other side of the margin is too far away to matter
            v, w = win_moments(-low)
            return -v, w
        z, r = tail(low)
        below, gap_below = (1.0 - z * r) / low, z * r
        z, r = tail(high)
        above, gap_above = (1.0 - z * r) / high, z * r
        ratio = 1.0 + less
        mass = below - ratio * above
        w = (2.0 * e * ratio * (below - above) - less * (gap_below - ratio * gap_above)) / (mass * mass)
        return less / mass, min(w, 1.0)
    scale = 2.0 * NORM * exp(-0.5 * low * low) / (erfc(HALF_SQRT * low) - erfc(HALF_SQRT * high))
    v = less * scale
    w = v * v + ((1.0 + less) * high - low) * scale
    return v, min(max(w, 0.0), 1.0)


@jit
def narrow_tie_moments(t: float, e: float) -> tuple[float, float]:
    """Return v and w for a small margin, in which the density is e^(t u), -e <= u <= e: Langevin's function."""
    y = t * e
    if y < 0.01:
        return e * y / 3.0 - t, 1.0 - e * e / 3.0
    less = -expm1(-2.0 * y)
    ratio = 1.0 - less
    return e * ((1.0 + ratio) / less - 1.0 / y) - t, 1.0 - e * e * (1.0 / (y * y) - 4.0 * ratio / (less * less))
