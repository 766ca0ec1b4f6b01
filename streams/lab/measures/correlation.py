"""Agreement of scores with gold scores: by value, by order, and by the top of the ranking."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from streams.core.ranking import kendall_tau
from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats


def pearson(scores: Floats, gold: Floats) -> float:
    """Return Pearson's correlation, or NaN if one of the two does not vary.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """
    _check(scores, gold)
    x, y = scores - scores.mean(), gold - gold.mean()
    scale = sqrt(float(x @ x) * float(y @ y))
    return min(1.0, max(-1.0, float(x @ y) / scale)) if scale > 0.0 else float("nan")


def spearman(scores: Floats, gold: Floats) -> float:
    """Return Spearman's rho: Pearson's correlation of the ranks. Equal scores share their mean rank.

    >>> spearman(np.array([1.0, 5.0, 9.0]), np.array([1.0, 2.0, 30.0]))
    1.0
    """
    _check(scores, gold)
    return pearson(_ranks(scores), _ranks(gold))


def kendall(scores: Floats, gold: Floats) -> float:
    """Return Kendall's tau-b, or NaN if one of the two does not vary.

    >>> round(kendall(np.array([3.0, 1.0, 2.0]), np.array([3.0, 2.0, 1.0])), 3)
    0.333
    """
    _check(scores, gold)
    return kendall_tau(scores, gold)


def ndcg(scores: Floats, gold: Floats, *, top: int | None = None) -> float:
    """Return sum_r gain_r / log2(1 + r) in the order of the scores, divided by that of the best order (Järvelin 2002).

    The gain of a system is its gold score. Systems with equal scores share the mean of their gains.

    >>> round(ndcg(np.array([3.0, 1.0, 2.0]), np.array([0.6, 0.5, 0.4])), 4)
    0.9883
    """
    _check(scores, gold)
    if gold.min() < 0.0 or gold.max() <= 0.0:
        raise ParameterError(f"gold: {gold.min():.6g} to {gold.max():.6g} cannot be gains; pass scores of 0 and above")
    discounts = 1.0 / np.log2(2.0 + np.arange(len(gold)))
    discounts[len(gold) if top is None else top :] = 0.0
    _, group = np.unique(-scores, return_inverse=True)
    shared = np.bincount(group, gold) / np.bincount(group)
    return float(discounts @ shared[np.sort(group)] / (discounts @ np.sort(gold)[::-1]))


def _ranks(values: Floats) -> Floats:
    _, group, same = np.unique(values, return_inverse=True, return_counts=True)
    below = np.cumsum(same) - same
    ranks: Floats = (below + 0.5 * (same + 1.0))[group]
    return ranks


def _check(scores: Floats, gold: Floats) -> None:
    if scores.shape != gold.shape or scores.ndim != 1 or len(scores) < 2:
        raise ParameterError(f"scores have shape {scores.shape} and gold has {gold.shape}; pass two or more of each")
