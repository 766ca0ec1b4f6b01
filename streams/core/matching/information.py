"""The default policy: match the systems whose variances make the order most uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from streams.core.kernels import order
from streams.core.matching.base import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from streams.core.matching.base import Floats


class OrderInformation(Policy):
    """The pair of largest (blur_a + blur_b) u^(1/4) / ((1 + met_ab) (1 + z_ab² / 10)), with u uniform on [0, 1).

    blur_a = s_a² sum_b (1 + z_ab) / (1 + z_ab²)² / (s_a + s_b), with z_ab = |mu_a - mu_b| / sqrt(s_a + s_b), estimates
    how much one more judgment of a clarifies the order. A variance s shrinks by s² times the information of a judgment,
    and the fraction follows the slope of the probability that a and b are in the wrong order.

    The largest blur alone would repeat the same pairs, because real judgments are not transitive. The wear
    (1 + met) (1 + z² / 10) makes a pair worth less with every meeting. So a system meets all others, near ones more
    often than far ones. Without `met` there is no wear, and u replaces u^(1/4), so that chance varies the pairs. A
    match of more systems starts with the best pair and adds the system that scores best with those chosen.

    >>> import numpy as np
    >>> policy, random = OrderInformation(), np.random.default_rng(1)
    >>> mean, deviation = np.array([0.0, 0.1, 3.0, 9.0]), np.full(4, 0.2)
    >>> sorted(policy.pick(mean, deviation, np.zeros((4, 4)), ways=2, random=random))
    [0, 1]
    """

    name: ClassVar[str] = "information"
    why: ClassVar[str] = "tells most about the order"

    def pick(
        self, mean: Floats, deviation: Floats, met: Floats | None, *, ways: int, random: np.random.Generator
    ) -> Sequence[int]:
        """Score every pair and return the best."""
        variance = deviation * deviation
        squares = order.distances(mean, variance)
        draws = random.random(squares.shape)
        if met is None:
            scores = order.score_pairs(order.blur(squares, variance), 1.0, (draws * draws) * (draws * draws))
        else:
            scores = order.score_pairs(order.blur(squares, variance), order.wear(squares, met), draws)
        chosen: list[int] = order.best_set(scores, ways).tolist()
        return chosen

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
