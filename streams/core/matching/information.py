"""The default policy: ask for the pair whose next judgment is expected to clarify the order most."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core import kernels
from streams.core.kernels import order
from streams.core.matching.base import Pick, Policy, no_meetings
from streams.core.matching.lookahead import expected_gains
from streams.core.matching.uniform import UniformPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.core.matching.base import Candidates, Floats

UNIFORM = 0.1  # share of requests for any pair, so that no pair is never judged
JITTER = 0.05  # largest random discount of a gain
REPAID = 20  # pairs that a compiled loop passes in the time of one update


class OrderInformation(Policy):
    """The pair whose next judgment reduces the expected errors of the order most; one pair in ten is any pair.

    `expected_gains` looks one judgment ahead, from a fit of all pair counts with an effect per pair, computed once for
    all matches that are chosen together. A gain is multiplied by 1 - u / 20, u uniform on [0, 1). No pair is asked
    for twice while fewer than half of the pairs are outstanding. A match of more systems starts with the best pair
    and adds the system that gains most with those chosen.
    """

    name: ClassVar[str] = "information"
    why: ClassVar[str] = "tells most about the order"

    def picks(self, field: Candidates, *, count: int, ways: int, random: np.random.Generator) -> Iterator[Pick]:
        """Look ahead once, then yield the best pairs that are not outstanding."""
        size = max(field.systems) + 1 if field.meetings is None else len(field.meetings.wins)
        is_candidate, asked = np.zeros(size, np.bool_), field.count_asked(size)
        is_candidate[field.systems] = True
        gains = expected_gains(field.meetings or no_meetings(size), is_candidate, asked)
        draws = random.random(size * (size - 1) // 2 + 2 * count)
        picked, by_chance = np.empty((count, ways), np.int64), np.empty(count, np.bool_)
        kernel = kernels.suited("picks", (1 + count) * size * size // REPAID)
        kernel.pick_matches(gains, is_candidate, asked, draws, JITTER, UNIFORM, picked, by_chance)
        for systems, is_any in zip(picked.tolist(), by_chance.tolist(), strict=True):
            yield Pick(systems, UniformPolicy.why if is_any else self.why)

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
