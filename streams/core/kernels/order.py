"""The next match by what it tells about the order, in arithmetic that numpy and numba round alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import jit

# Two systems so many deviations apart, squared, meet half as often as two that stand level.
REACH = 10.0


@jit
def distances(mean: Any, variance: Any) -> Any:
    """Give z² of each pair: the square of its gap in deviations of the gap."""
    count = len(mean)
    gaps = mean.reshape(count, 1) - mean
    return gaps * gaps / (variance.reshape(count, 1) + variance)


@jit
def blur(squares: Any, variance: Any) -> Any:
    """Give how far one more judgment of each system clears the order up: s_a² sum_b (1 + z) / (1 + z²)² / (s_a + s_b).

    The fraction follows the slope of the probability that a and b are misordered, where their gap may be anything
    that is believed of it; it needs no exponential, whose last bit differs from library to library.
    """
    count = len(variance)
    flat = 1.0 + squares
    slopes = (1.0 + np.sqrt(squares)) / (flat * flat * (variance.reshape(count, 1) + variance))
    total = np.zeros(count)
    for b in range(count):
        slopes[b, b] = 0.0
        total += slopes[b]  # one by one: a sum in another order has other bits
    return variance * variance * total


@jit
def wear(squares: Any, met: Any) -> Any:
    """Give how little is left to learn from a pair itself, by how often it met and how far apart it is."""
    return (1.0 + squares / REACH) * (1.0 + met)


@jit
def score_pairs(blurs: Any, worn: Any, draws: Any) -> Any:
    """Score each pair a < b by its two blurs, its wear and its draw u from [0, 1), as u^(1/4); others score 0."""
    count = len(blurs)
    scores = (blurs.reshape(count, 1) + blurs) * np.sqrt(np.sqrt(draws)) / worn
    for a in range(count):
        scores[a, : a + 1] = 0.0
    return scores


@jit
def best_set(scores: Any, ways: int) -> Any:
    """Give the systems of the best pair, joined one by one by the one that scores best with those before."""
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
