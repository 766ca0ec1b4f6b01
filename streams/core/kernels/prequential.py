"""The log-loss of predictions: every ranking is predicted before the model learns from it."""

from __future__ import annotations

from math import sqrt
from typing import Any

from streams.compiler import jit
from streams.core.kernels.elementary import log
from streams.core.kernels.normal import upper_tail
from streams.core.kernels.pairs import margin_row, rate_rankings

FLOOR = 1e-300  # lowest probability, so that the loss of one outcome is at most 691


@jit
def outcome_loss(t: float, e: float, order: int) -> float:
    """Return -log P of the outcome of a pair with lead t and margin e. `order` is as in `rate_pair`."""
    if order > 0:
        t = -t
    if order != 0:
        mass = upper_tail(e - t)
    else:
        t = abs(t)
        mass = upper_tail(t - e) - upper_tail(t + e)
    return -log(max(mass, FLOOR))


@jit
def learn_prequentially(
    mean: Any, variance: Any, margins: Any, systems: Any, ranks: Any, starts: Any, judges: Any, beta: float
) -> float:
    """Apply rankings in order and return the sum of the losses. A ranking is predicted before it is applied.

    `margins` is as in `pairs.margin_row`.
    """
    loss = 0.0
    for k in range(len(starts) - 1):
        row = margin_row(margins, judges[k], beta)
        margin = float(margins[row, 0])
        for a in range(starts[k], starts[k + 1]):
            for b in range(a + 1, starts[k + 1]):
                i, j = systems[a], systems[b]
                c = sqrt(2.0 * beta * beta + variance[i] + variance[j])
                loss += outcome_loss((mean[i] - mean[j]) / c, margin / c, ranks[a] - ranks[b])
        rate_rankings(mean, variance, margins, systems, ranks, starts[k : k + 2], judges[k : k + 1], beta)
    return loss
