"""The product's own online models, measured as the papers' are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streams.core.methods.base import Fitted, Method
from streams.core.models import create

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs


class Online(Method, frozen=True):
    """A model of the product's registry, with its parameters, after one pass over the outcomes in their order.

    >>> from streams.core.methods.pairs import Pairs
    >>> fitted = Online(model="trueskill").fit(Pairs.parse(">"))
    >>> bool(fitted.scores[0] > 0 > fitted.scores[1])
    True
    """

    model: str
    parameters: dict[str, Any] = {}  # noqa: RUF012 - msgspec copies it
    budget: int | None = None

    @property
    def name(self) -> str:
        """Name it as the product does."""
        return self.model

    def fit(self, training: Pairs) -> Fitted:
        """Learn in order."""
        model = create(self.model, self.parameters, budget=self.budget)
        size = len(training.systems)
        model.grow(size, len(training.judges), len(training.segments))
        model.apply(training.to_batch())
        outcomes = np.array([[model.predict(a, b) for b in range(size)] for a in range(size)]).reshape(size, size, 3)
        mean, deviation = model.scores()
        facts = model.judge_facts()
        return Fitted(outcomes=outcomes, scores=mean, deviations=deviation, reliabilities=facts.reliability)
