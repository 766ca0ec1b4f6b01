"""Fleiss' kappa: the agreement of any number of judges per item, beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Ints


def fleiss_kappa(counts: Ints) -> float:
    """Return Fleiss' kappa of a table: one row per item, one column per category, how many judges chose it.

    P_i = sum_j n_ij (n_ij - 1) / (n_i (n_i - 1)) is the share of pairs of judges who agree on item i, and p_j the share
    of all answers in category j. kappa = (mean P_i - sum p_j²) / (1 - sum p_j²). Fleiss (1971) has the same number of
    judges for every item. Here it may differ, and items with fewer than two judges are left out. It is NaN if no item
    is left, or if all answers are in one category.

    >>> round(fleiss_kappa(np.array([[3, 0], [0, 3], [2, 1]])), 3)
    0.55
    """
    judges = counts.sum(axis=1)
    counts, judges = counts[judges > 1], judges[judges > 1]
    if not len(counts):
        return float("nan")
    observed = ((counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1))).mean()
    chance = float(((counts.sum(axis=0) / judges.sum()) ** 2).sum())
    return float((observed - chance) / (1.0 - chance)) if chance < 1.0 else float("nan")


def outcome_counts(pairs: Pairs) -> Ints:
    """Return how many judges said better, tied and worse, for each two systems on a segment.

    Judges of an item must differ, so only the first outcome of a judge counts.

    >>> from streams.core.methods.pairs import Pairs
    >>> outcome_counts(Pairs.parse(">>=")).tolist()  # by one judge
    [[1, 0, 0]]
    """
    items, outcomes = pairs.items()
    _, item = np.unique(items, return_inverse=True)
    _, first = np.unique(item * max(1, len(pairs.judges)) + pairs.judge, return_index=True)
    size = int(item.max(initial=-1)) + 1
    counts: Ints = np.bincount(3 * item[first] + outcomes[first], minlength=3 * size).reshape(size, 3)
    return counts


def fleiss_kappa_of_outcomes(counts: Ints) -> float:
    """Return Fleiss' kappa of `outcome_counts`, with P(better) = P(worse).

    Which of the two systems comes first has no meaning. So every item counts in both directions.

    >>> fleiss_kappa_of_outcomes(np.array([[2, 0, 0], [0, 2, 0]]))
    1.0
    """
    return fleiss_kappa(np.concatenate([counts, counts[:, ::-1]]))
