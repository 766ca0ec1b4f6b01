"""How much one more judgment of a system clarifies the order, if systems are rated independently of each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import jit

# Smallest variance of a gap. That of a baseline to itself is 0, and nothing may be divided by it.
KNOWN = 1e-30


@jit
def distances(mean: Any, variance: Any) -> Any:
    """Return z² of each pair: its squared gap, divided by the variance of the gap."""
    count = len(mean)
    gaps = mean.reshape(count, 1) - mean
    return gaps * gaps / np.maximum(variance.reshape(count, 1) + variance, KNOWN)


@jit
def blur(squares: Any, variance: Any) -> Any:
    """Return how much one more judgment clarifies the order: s_a² sum_b (1 + z) / (1 + z²)² / (s_a + s_b).

    The fraction approximates the slope of the probability that a and b are in the wrong order, averaged over the
    distribution of their gap. It needs no exponential, whose last bit differs between libraries.
    """
    count = len(variance)
    flat = 1.0 + squares
    slopes = (1.0 + np.sqrt(squares)) / (flat * flat * np.maximum(variance.reshape(count, 1) + variance, KNOWN))
    total = np.zeros(count)
    for b in range(count):
        slopes[b, b] = 0.0
        total += slopes[b]  # one by one, because a sum in another order has other bits
    return variance * variance * total
