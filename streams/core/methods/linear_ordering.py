"""The best ranking for a table of preferences, exactly: the least total weight of preferences against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.errors import ParameterError

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints

MOST_SYSTEMS = 20  # in one cycle: the time and memory double with each further system
HALF = 10  # a set of systems is looked up by its first and its second half
CLOSE = 1e-9  # two totals that differ by less, relative to all weights, are equal


def best_positions(against: Floats | Ints, priority: Floats) -> Floats:
    """Return the position of each system, 1 is best, where against[i, j] is the cost of ranking i above j.

    Only the difference of against[i, j] and against[j, i] matters: the cheaper order of two systems is preferred. If
    preferences form no cycle, all of them can be kept. Systems in a common cycle are a strongly connected component
    of the graph of preferences. An optimal ranking keeps the order of the components, so only each component has to
    be searched, by dynamic programming over its subsets (Held and Karp 1962; Charon and Hudry 2010).

    Of equally good orders of a component, the first one is taken if the systems are sorted by falling priority, then
    by index. Components without any preference between them get the middle of the positions that they may have, so
    that systems which nothing separates share a position.

    >>> cycle = np.array([[0, 1, 3], [4, 0, 0], [0, 2, 0]])  # 0 is preferred to 1 by 3, 1 to 2 by 2, and 2 to 0 by 3
    >>> best_positions(cycle, np.zeros(3)).tolist()
    [2.0, 3.0, 1.0]
    """
    count = len(against)
    if not count:
        return np.empty(0)
    excess: Floats = np.maximum(against - against.T, 0.0)  # the price of i above j, if j is preferred
    reaches = excess.T > 0.0
    for middle in range(count):
        reaches |= reaches[:, middle, None] & reaches[None, middle, :]
    mutual = reaches & reaches.T
    np.fill_diagonal(mutual, val=True)
    before, after = (reaches & ~mutual).sum(axis=0), (reaches & ~mutual).sum(axis=1)
    middle_position = 0.5 * (1.0 + before + count - after)
    positions = np.empty(count)
    for first in np.flatnonzero(mutual.argmax(axis=1) == np.arange(count)):
        members = np.flatnonzero(mutual[first])
        members = members[np.lexsort((members, -priority[members]))]
        order = _order_component(excess[np.ix_(members, members)])
        offsets = np.arange(len(members)) - 0.5 * (len(members) - 1)
        positions[members[order]] = middle_position[members] + offsets
    return positions


def _order_component(excess: Floats) -> Ints:
    """Return the first of the cheapest orders. `cheapest[S]` is the price of the rest if the set S is ranked above."""
    size = len(excess)
    if size > MOST_SYSTEMS:
        raise ParameterError(
            f"{size} systems beat each other in cycles; the exact search takes at most {MOST_SYSTEMS}; "
            "rank fewer systems, or choose the model 'expected-wins' or 'bradley-terry'"
        )
    if size == 1:
        return np.zeros(1, np.int64)
    prices = [_Price(excess[system]) for system in range(size)]
    sets = np.arange(2**size)
    sizes = _bit_counts(size)
    by_size = np.split(np.argsort(sizes, kind="stable"), np.cumsum(np.bincount(sizes))[:-1])
    cheapest = np.full(2**size, np.inf)
    cheapest[-1] = 0.0
    for chosen in reversed(by_size[:-1]):
        for system in range(size):
            open_sets = chosen[(chosen >> system) & 1 == 0]
            total = prices[system](open_sets) + cheapest[open_sets | (1 << system)]
            cheapest[open_sets] = np.minimum(cheapest[open_sets], total)
    order, placed, close = [], 0, CLOSE * (1.0 + float(excess.sum()))
    for _ in range(size):
        for system in range(size):
            if placed >> system & 1:
                continue
            total = prices[system](sets[placed : placed + 1])[0] + cheapest[placed | 1 << system]
            if total <= cheapest[placed] + close:
                break
        order.append(system)
        placed |= 1 << system
    return np.array(order, np.int64)


class _Price:
    """The price of ranking one system next, above all that are not in a set yet."""

    def __init__(self, over: Floats) -> None:
        self._total = float(over.sum())
        self._low, self._high = _subset_sums(over[:HALF]), _subset_sums(over[HALF:])

    def __call__(self, placed: Ints) -> Floats:
        price: Floats = self._total - self._low[placed & (len(self._low) - 1)] - self._high[placed >> HALF]
        return price


def _subset_sums(values: Floats) -> Floats:
    """Return the sum of every subset, where bit k of the index stands for value k.

    >>> _subset_sums(np.array([1.0, 10.0])).tolist()
    [0.0, 1.0, 10.0, 11.0]
    """
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _bit_counts(bits: int) -> Ints:
    counts = np.zeros(1, np.int64)
    for _ in range(bits):
        counts = np.concatenate([counts, counts + 1])
    return counts
