"""Quantiles of Student's t distribution."""

from __future__ import annotations

from functools import cache
from math import atan, inf, lgamma, pi, sqrt
from math import exp as e_to
from math import log as ln
from statistics import NormalDist

STEPS = 100


@cache
def student_quantile(freedom: int, confidence: float = 0.95) -> float:
    """Return the t within which a value lies, on both sides of 0, with this confidence. Without freedom it is infinite.

    >>> round(student_quantile(31), 4), round(student_quantile(4), 4), student_quantile(0)
    (2.0395, 2.7764, inf)
    """
    if freedom < 1:
        return inf
    # The distribution is concave to the right of 0, so Newton's steps from the left do not pass the quantile.
    t = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    density_at_0 = e_to(lgamma(0.5 * (freedom + 1)) - lgamma(0.5 * freedom)) / sqrt(pi * freedom)
    for _ in range(STEPS):
        density = density_at_0 * e_to(-0.5 * (freedom + 1) * ln(1.0 + t * t / freedom))
        step = 0.5 * (confidence - student_mass(t, freedom)) / density
        t += step
        if abs(step) < 1e-14 * t:
            break
    return t


def student_mass(t: float, freedom: int) -> float:
    """Return the probability of a value between -t and t, as a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    sine, cosine = t / sqrt(freedom + t * t), sqrt(freedom / (freedom + t * t))
    odd = freedom % 2
    term = total = cosine if odd else 1.0
    for k in range(2 + odd, freedom, 2):
        term *= (k - 1) / k * cosine * cosine
        total += term
    if not odd:
        return sine * total
    return 2.0 / pi * (atan(t / sqrt(freedom)) + (sine * total if freedom > 1 else 0.0))
