"""The uniform policy: every match is equally likely. Other policies are compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from streams.core.matching.base import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from streams.core.matching.base import Floats


class UniformPolicy(Policy):
    """Choose any systems with equal probability, independent of their ratings.

    >>> import numpy as np
    >>> sorted(UniformPolicy().pick(np.zeros(2), np.ones(2), None, ways=2, random=np.random.default_rng(1)))
    [0, 1]
    """

    name: ClassVar[str] = "uniform"
    why: ClassVar[str] = "any systems, by chance"

    def pick(
        self,
        mean: Floats,
        deviation: Floats,  # noqa: ARG002
        met: Floats | None,  # noqa: ARG002
        *,
        ways: int,
        random: np.random.Generator,
    ) -> Sequence[int]:
        """Draw systems without replacement."""
        drawn: list[int] = random.choice(len(mean), size=ways, replace=False).tolist()
        return drawn

    def score_each(
        self,
        mean: Floats,
        deviation: Floats,  # noqa: ARG002
        told: Floats,  # noqa: ARG002
        *,
        random: np.random.Generator,
    ) -> Floats:
        """Draw a score for each system."""
        return random.random(len(mean))
