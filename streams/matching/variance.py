"""The paper's policy: the least known system meets one that is probably close to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.matching.base import Match, Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.models import Model


class LargestVariance(Policy):
    """First the system of largest variance, then an opponent with probability ∝ exp(-|mu_1 - mu_2|).

    Sakaguchi, Post and Van Durme (2014), section 3.3. A request that is still out narrows the two variances
    as its answer would, so that parallel judges are not all sent to the same system.
    """

    name: ClassVar[str] = "variance"

    def choose(
        self,
        model: Model,
        *,
        candidates: Sequence[int],
        pending: Sequence[tuple[int, ...]],
        count: int,
        random: np.random.Generator,
    ) -> list[Match]:
        """Choose one after the other, each knowing the ones before."""
        mean, deviation = model.scores()
        systems = np.asarray(candidates, dtype=np.int64)
        bits = np.zeros(len(mean))
        for match in pending:
            bits[list(match)] += model.information(match[0], match[1]) / 2
        matches = []
        for _ in range(count):
            expected = deviation[systems] * np.exp2(-bits[systems])
            first = int(systems[np.argmax(expected)])
            others = systems[systems != first]
            weights = np.exp(-np.abs(mean[others] - mean[first]))
            second = int(random.choice(others, p=weights / weights.sum()))
            information = model.information(first, second)
            bits[[first, second]] += information / 2
            matches.append(
                Match(systems=(first, second), why="least known system against a close one", information=information)
            )
        return matches
