"""Measures of how well probabilities of the three outcomes predict the actual outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints


def surprises(probabilities: Floats, outcomes: Ints) -> Floats:
    """Return -log P of each actual outcome. It is infinite for P = 0.

    >>> surprises(np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]), np.array([0, 2])).round(3).tolist()
    [0.693, inf]
    """
    check(probabilities, outcomes)
    with np.errstate(divide="ignore"):
        return -np.log(probabilities[np.arange(len(outcomes)), outcomes])


def log_loss(probabilities: Floats, outcomes: Ints) -> float:
    """Return the mean of -log P of the actual outcomes, in nats.

    >>> round(log_loss(np.full((2, 3), 1 / 3), np.array([0, 2])), 4)
    1.0986
    """
    return float(surprises(probabilities, outcomes).mean())


def perplexity(probabilities: Floats, outcomes: Ints) -> float:
    """Return 2^(-mean log2 P) of the actual outcomes. It is 3 for uniform predictions (Hopkins and May 2013, 4).

    >>> round(perplexity(np.full((2, 3), 1 / 3), np.array([0, 2])), 6)
    3.0
    """
    return float(np.exp(log_loss(probabilities, outcomes)))


def accuracy(probabilities: Floats, outcomes: Ints) -> float:
    """Return the share of actual outcomes that were predicted as most probable (Sakaguchi et al. 2014, 3.3).

    If n outcomes are equally probable, each counts as 1 / n.

    >>> accuracy(np.array([[0.5, 0.2, 0.3], [0.4, 0.2, 0.4]]), np.array([0, 2]))
    0.75
    """
    check(probabilities, outcomes)
    best = probabilities == probabilities.max(axis=1, keepdims=True)
    return float((best[np.arange(len(outcomes)), outcomes] / best.sum(axis=1)).mean())


def accuracy_bound(pairs: Pairs) -> float:
    """Return the accuracy of the best constant choice per pair of systems, an upper bound for all models.

    Sakaguchi et al. (2014), Table 2: the upper bound.

    >>> from streams.core.methods.pairs import Pairs
    >>> accuracy_bound(Pairs.parse(">>=<"))
    0.5
    """
    if not len(pairs):
        raise ParameterError("there are no outcomes to measure; pass at least one")
    wins, ties = pairs.counts()
    most = np.maximum(np.maximum(wins, wins.T), ties)
    return int(np.triu(most, 1).sum()) / len(pairs)


def check(probabilities: Floats, outcomes: Ints) -> None:
    """Raise ParameterError if the shapes do not fit or there are no outcomes."""
    if probabilities.shape != (len(outcomes), 3):
        raise ParameterError(
            f"{len(outcomes)} outcomes need as many rows of 3 probabilities, not {probabilities.shape}"
        )
    if not len(outcomes):
        raise ParameterError("there are no outcomes to measure; pass at least one")
