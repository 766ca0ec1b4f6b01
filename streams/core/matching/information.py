"""The default policy: ask for the pair whose next judgment is expected to clarify the order most."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.kernels import order
from streams.core.matching.base import Pick, Policy
from streams.core.matching.lookahead import expected_gains
from streams.core.matching.uniform import UniformPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from streams.core.matching.base import Candidates, Floats

UNIFORM = 0.1  # share of requests for any pair, so that no pair is never judged
JITTER = 0.05  # largest random discount of a gain
HALF = 2  # while fewer than half of all pairs are outstanding, none is asked for twice


class OrderInformation(Policy):
    """The pair whose next judgment reduces the expected errors of the order most; one pair in ten is any pair.

    `expected_gains` looks one judgment ahead, from a fit of all pair counts with an effect per pair, computed once for
    all matches that are chosen together. A gain is multiplied by 1 - u / 20, u uniform on [0, 1). No pair is asked
    for twice while fewer than half of the pairs are outstanding. A match of more systems starts with the best pair
    and adds the system that gains most with those chosen.
    """

    name: ClassVar[str] = "information"
    why: ClassVar[str] = "tells most about the order"

    def picks(self, field: Candidates, *, ways: int, random: np.random.Generator) -> Iterator[Pick]:
        """Look ahead once, then yield the best pairs that are not outstanding."""
        gains = expected_gains(field.meetings, field.systems, field.asked) * _jitter(len(field.systems), random)
        limit, free = 0, np.empty((0, 0))
        while True:
            allowed = max(limit, 1 + HALF * int(field.asked.sum()) // (len(gains) * (len(gains) - 1)))
            while limit < allowed or free.max() < 0.0:
                limit, free = limit + 1, np.where(field.asked > limit, -1.0, gains)
                free[_lower(len(free))] = -1.0
            if random.random() < UNIFORM:
                left, why = np.flatnonzero(free >= 0.0), UniformPolicy.why
                best = int(left[random.integers(len(left))])
            else:
                best, why = int(np.argmax(free)), self.why
            places = grow(list(divmod(best, len(free))), gains, ways)
            yield Pick(places, why)
            for a, b in combinations(sorted(places), 2):
                if field.asked[a, b] >= limit:
                    free[a, b] = -1.0

    def score_each(
        self,
        mean: Floats,
        deviation: Floats,
        told: Floats,
        *,
        random: np.random.Generator,  # noqa: ARG002 - there are no pairs that could be judged too often
    ) -> Floats:
        """Return the blur of each system, multiplied by what a match with the required system tells about it."""
        variance = deviation * deviation
        blurs: Floats = order.blur(order.distances(mean, variance), variance)
        return blurs * told


def grow(places: Sequence[int], gains: Floats, ways: int) -> Sequence[int]:
    """Add the system that gains most with those chosen, until there are `ways`.

    >>> gains = np.array([[0, 9, 2, 3], [9, 0, 5, 1], [2, 5, 0, 8], [3, 1, 8, 0.0]])
    >>> grow([0, 1], gains, 3)
    [0, 1, 2]
    """
    grown = list(places)
    while len(grown) < ways:
        total: Floats = gains[grown].sum(axis=0)
        total[grown] = -1.0
        grown.append(int(np.argmax(total)))
    return grown


def _jitter(size: int, random: np.random.Generator) -> Floats:
    """Return a random factor for each pair, the same on both sides. It breaks ties and varies the pairs."""
    draws = random.random((size, size))
    draws[_lower(size)] = 0.0
    return 1.0 - JITTER * (draws + draws.T)


@lru_cache(maxsize=8)
def _lower(size: int) -> NDArray[np.bool_]:
    """Return the places on and below the diagonal. Making them takes longer than using them."""
    return np.tri(size, dtype=np.bool_)
