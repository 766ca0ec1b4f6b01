"""The most probable ranking: every pair counts by how certain its better system is."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.methods.feedback_arc_set import TotalOrder
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints

NEGLIGIBLE = 1e-18


class MostProbable(TotalOrder, frozen=True):
    """The ranking r that maximises the product over i above j in r of P(i better than j).

    Hopkins and May (2013) name Most Probable Ranking as the variant of Lopez's ranking in WMT12 (Callison-Burch et al.
    2012), without its formula. The formula here is ours: P(i better than j) is the posterior probability that i wins
    more than half of the decided comparisons, if before any judgment every share of wins is equally likely. With
    n = win(i, j) + win(j, i) it is P(X <= win(i, j)) for X ~ Binomial(n + 1, 1/2). So a pair that met often counts
    more than one that hardly met, but not in proportion to its judgments.

    >>> from streams.core.methods.pairs import Pairs
    >>> MostProbable().fit(Pairs.parse(">><=")).scores.tolist()
    [1.0, 0.0]
    """

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="There is one true order. A pair counts by the probability that its winner is really better.",
        cost="pair counts; doubles with each system in a common cycle, at most 20 of them",
        choose="Like feedback-arc-set, if some pairs met much more often than others.",
        reference="Callison-Burch et al. 2012",
    )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "most-probable"

    def costs(self, wins: Ints) -> Floats:
        """Return -log P(row better than column)."""
        return -log_better(wins, wins.swapaxes(-1, -2))


def log_better(won: Ints, lost: Ints) -> Floats:
    """Return log P(better) from wins and losses: log P(X <= won), X ~ Binomial(won + lost + 1, 1/2).

    The smaller of the two tails is summed from its largest term, so that thousands of judgments do not underflow.

    >>> np.exp(log_better(np.array([0, 3]), np.array([0, 1]))).round(4).tolist()
    [0.5, 0.8125]
    """
    trials, least = won + lost + 1, np.minimum(won, lost)
    most = int(trials.max(initial=1))
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    peak = log_factorial[trials] - log_factorial[least] - log_factorial[trials - least] - trials * log(2.0)
    tail, term = np.ones(won.shape), np.ones(won.shape)
    # Terms fall at least as fast as those of a normal distribution: after 9 deviations nothing is left.
    for step in range(int(9.0 * sqrt(most)) + 9):
        k = least - step
        term = term * np.maximum(k, 0) / (trials - k + 1)
        tail += term
        if term.max(initial=0.0) < NEGLIGIBLE:
            break
    smaller = peak + np.log(tail)
    equal = won == lost
    larger = np.log1p(-np.exp(np.minimum(smaller, -log(2.0))))
    return np.where(equal, -log(2.0), np.where(won < lost, smaller, larger))
