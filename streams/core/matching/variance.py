"""The policy of Sakaguchi et al.: the least known system meets one that is probably close to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.kernels.elementary import exp
from streams.core.matching.base import Pick, Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.core.matching.base import Candidates, Floats


class LargestVariance(Policy):
    """First the system of largest variance, then opponents with probability ∝ exp(-|mu_1 - mu_2|).

    Sakaguchi, Post and Van Durme (2014), section 3.3.
    """

    name: ClassVar[str] = "variance"
    why: ClassVar[str] = "least known system against a close one"

    def picks(self, field: Candidates, *, count: int, ways: int, random: np.random.Generator) -> Iterator[Pick]:
        """Yield the least known system and randomly drawn opponents."""
        for _ in range(count):
            first = int(np.argmax(field.deviation))
            others = np.delete(np.arange(len(field.mean)), first)
            weights = np.array([exp(-gap) for gap in np.abs(field.mean[others] - field.mean[first]).tolist()])
            drawn = random.choice(others, size=ways - 1, replace=False, p=weights / weights.sum())
            yield Pick([field.systems[k] for k in (first, *drawn.tolist())], self.why)

    def score_each(
        self,
        mean: Floats,  # noqa: ARG002 - every match has the same opponent
        deviation: Floats,
        told: Floats,  # noqa: ARG002
        *,
        random: np.random.Generator,  # noqa: ARG002
    ) -> Floats:
        """Return the deviations: the least known system is first."""
        return deviation.copy()
