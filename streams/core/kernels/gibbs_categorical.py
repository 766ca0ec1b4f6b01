"""The Gibbs sampler of the categorical model of Hopkins and May."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit


@jit
def sample(
    held: Any,
    author: Any,
    starts: Any,
    rivals: Any,
    outcomes: Any,
    likelihood: Any,
    strength: float,
    quality: Any,
    weights: Any,
    random: Any,
) -> None:
    """Fill held[t, s, level] with the number of items of system s at each level after sweep t.

    Item i met rivals[starts[i]:starts[i + 1]], with the outcomes at the same places. The likelihood has the axes
    outcome, own level and level of the rival. Abilities and observations are integrated out.
    """
    levels = len(weights)
    counts = held[0].copy()
    for i in range(len(author)):
        counts[author[i], quality[i]] += 1
    for t in range(held.shape[0]):
        for i in range(len(author)):
            counts[author[i], quality[i]] -= 1
            for level in range(levels):
                weights[level] = counts[author[i], level] + strength
            for k in range(starts[i], starts[i + 1]):
                most = 0.0
                for level in range(levels):
                    weights[level] *= likelihood[outcomes[k], level, quality[rivals[k]]]
                    most = max(most, weights[level])
                for level in range(levels):
                    weights[level] /= most
            total = 0.0
            for level in range(levels):
                total += weights[level]
            left = random.random() * total
            level = 0
            while level < levels - 1 and left >= weights[level]:
                left -= weights[level]
                level += 1
            quality[i] = level
            counts[author[i], level] += 1
        held[t] = counts
