"""The online models of `streams.core.models` as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streams.core.methods.base import Fitted, Method
from streams.core.models import create

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs


class Online(Method, frozen=True):
    """An online model with its parameters, after one pass over the outcomes in log order.

    >>> from streams.core.methods.pairs import Pairs
    >>> fitted = Online(model="trueskill").fit(Pairs.parse(">"))
    >>> bool(fitted.scores[0] > 0 > fitted.scores[1])
    True
    """

    model: str
    parameters: dict[str, Any] = {}  # noqa: RUF012 - msgspec copies the default
    budget: int | None = None

    @property
    def name(self) -> str:
        """The name of the online model."""
        return self.model

    def fit(self, training: Pairs) -> Fitted:
        """Apply the outcomes in order."""
        model = create(self.model, self.parameters, budget=self.budget)
        size = len(training.systems)
        model.grow(size, len(training.judges), len(training.segments))
        model.apply(training.to_batch())
        outcomes = np.array([[model.predict(a, b) for b in range(size)] for a in range(size)]).reshape(size, size, 3)
        mean, deviation = model.scores()
        facts = model.judge_facts()
        return Fitted(outcomes=outcomes, scores=mean, deviations=deviation, reliabilities=facts.reliability)
