"""The uniform policy: every match is equally likely. Other policies are compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from streams.core.matching.base import Pick, Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from streams.core.matching.base import Candidates, Floats


class UniformPolicy(Policy):
    """Choose any systems with equal probability, independent of their ratings."""

    name: ClassVar[str] = "uniform"
    why: ClassVar[str] = "any systems, by chance"

    def picks(self, field: Candidates, *, count: int, ways: int, random: np.random.Generator) -> Iterator[Pick]:
        """Draw systems without replacement."""
        for _ in range(count):
            yield Pick(random.choice(field.systems, size=ways, replace=False).tolist(), self.why)

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
