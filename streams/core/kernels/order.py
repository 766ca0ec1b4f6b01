"""The next match by its information about the order, in arithmetic that numpy and numba round alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import jit

# Two systems with this squared distance meet half as often as two with equal means.
REACH = 10.0
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


@jit
def wear(squares: Any, met: Any) -> Any:
    """Return a divisor for each pair, which grows with its number of matches and with its distance."""
    return (1.0 + squares / REACH) * (1.0 + met)


@jit
def score_pairs(blurs: Any, worn: Any, draws: Any) -> Any:
    """Return the score of each pair a < b from its blurs, its wear and u^(1/4), u from [0, 1). Others score 0."""
    count = len(blurs)
    scores = (blurs.reshape(count, 1) + blurs) * np.sqrt(np.sqrt(draws)) / worn
    for a in range(count):
        scores[a, : a + 1] = 0.0
    return scores


@jit
def best_set(scores: Any, ways: int) -> Any:
    """Return the systems of the best pair, then one by one the system that scores best with those before it."""
    count = len(scores)
    chosen = np.empty(ways, np.int64)
    best = np.argmax(scores)
    chosen[0], chosen[1] = best // count, best % count
    gains = np.zeros(count)
    for k in range(ways):
        if k > 1:
            chosen[k] = np.argmax(gains)
        if ways > 2:
            gains += scores[chosen[k]] + scores[:, chosen[k]]
            for j in range(k + 1):
                gains[chosen[j]] = -1.0
    return chosen
