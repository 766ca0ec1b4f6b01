"""The policy of Sakaguchi et al.: the least known system meets one that is probably close to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.kernels.elementary import exp
from streams.core.matching.base import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.matching.base import Floats


class LargestVariance(Policy):
    """First the system of largest variance, then opponents with probability ∝ exp(-|mu_1 - mu_2|).

    Sakaguchi, Post and Van Durme (2014), section 3.3.

    >>> policy, random = LargestVariance(), np.random.default_rng(1)
    >>> policy.pick(np.zeros(3), np.array([0.1, 0.3, 0.2]), None, ways=2, random=random)[0]
    1
    """

    name: ClassVar[str] = "variance"
    why: ClassVar[str] = "least known system against a close one"

    def pick(
        self,
        mean: Floats,
        deviation: Floats,
        met: Floats | None,  # noqa: ARG002 - the paper does not use it
        *,
        ways: int,
        random: np.random.Generator,
    ) -> Sequence[int]:
        """Return the least known system and randomly drawn opponents."""
        first = int(np.argmax(deviation))
        others = np.delete(np.arange(len(mean)), first)
        weights = np.array([exp(-gap) for gap in np.abs(mean[others] - mean[first]).tolist()])
        drawn = random.choice(others, size=ways - 1, replace=False, p=weights / weights.sum())
        return [first, *drawn.tolist()]

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
