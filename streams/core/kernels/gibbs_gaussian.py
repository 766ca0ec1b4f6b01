"""The Gibbs sampler of the Gaussian model of Hopkins and May."""

from __future__ import annotations

from math import sqrt
from typing import Any

from streams.compiler import jit
from streams.core.kernels.elementary import exp, log

NAIVE = 0.4  # below this bound, rejection of plain normal draws is fast enough


@jit
def draw_above(low: float, random: Any) -> float:
    """Draw a standard normal above a bound (Robert 1995)."""
    if low < NAIVE:
        while True:
            x = random.standard_normal()
            if x >= low:
                return float(x)
    rate = 0.5 * (low + sqrt(low * low + 4.0))
    while True:
        x = low - log(1.0 - random.random()) / rate
        if random.random() <= exp(-0.5 * (x - rate) ** 2):
            return float(x)


@jit
def draw_between(low: float, high: float, random: Any) -> float:
    """Draw a standard normal between two bounds (Robert 1995)."""
    if low < 0.0 < high and high - low > 2.0:
        while True:
            x = random.standard_normal()
            if low <= x <= high:
                return float(x)
    sign = 1.0 if low > 0.0 else -1.0
    near = low if low > 0.0 else -high
    if near * (high - low) > 2.0:  # most of the tail beyond the near bound is inside
        while True:
            x = draw_above(near, random)
            if x <= near + high - low:
                return float(sign * x)
    peak = min(max(0.0, low), high)
    while True:
        x = low + (high - low) * random.random()
        if random.random() <= exp(0.5 * (peak * peak - x * x)):
            return float(x)


@jit
def sample(
    means: Any,
    author: Any,
    first: Any,
    second: Any,
    outcome: Any,
    spread: float,
    item_deviation: float,
    noise: float,
    radius: float,
    quality: Any,
    observed: Any,
    seen: Any,
    tally: Any,
    random: Any,
) -> None:
    """Fill means[t] with the abilities after sweep t. seen[i] is the number of comparisons of item i.

    Sum and difference of two observations with the same noise are independent. The outcome bounds only the difference,
    so both observations are drawn at once. Abilities are drawn with the qualities integrated out, then the qualities.
    `observed` and `tally` are scratch memory.
    """
    size = means.shape[1]
    width = sqrt(2.0) * noise
    for t in range(means.shape[0]):
        observed[:] = 0.0
        for k in range(len(first)):
            i, j = first[k], second[k]
            middle = quality[i] - quality[j]
            if outcome[k] == 0:
                gap = middle + width * draw_above((radius - middle) / width, random)
            elif outcome[k] == 2:
                gap = middle - width * draw_above((radius + middle) / width, random)
            else:
                gap = middle + width * draw_between((-radius - middle) / width, (radius - middle) / width, random)
            total = quality[i] + quality[j] + width * random.standard_normal()
            observed[i] += 0.5 * (total + gap)
            observed[j] += 0.5 * (total - gap)
        tally[:] = 0.0
        for i in range(len(author)):
            weight = 1.0 / (item_deviation**2 + noise**2 / seen[i])
            tally[author[i], 0] += weight
            tally[author[i], 1] += weight * observed[i] / seen[i]
        for s in range(size):
            precision = tally[s, 0] + 1.0 / spread**2
            means[t, s] = tally[s, 1] / precision + random.standard_normal() / sqrt(precision)
        for i in range(len(author)):
            precision = 1.0 / item_deviation**2 + seen[i] / noise**2
            centre = (means[t, author[i]] / item_deviation**2 + observed[i] / noise**2) / precision
            quality[i] = centre + random.standard_normal() / sqrt(precision)
