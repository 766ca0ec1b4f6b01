"""Elo ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.methods.base import Fitted, Method, Positive, decided, logistic, tie_share
from streams.core.methods.tie_radius import score_gaps
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs

SCALE = 400.0 / np.log(10.0)
START = 1500.0


class Elo(Method, frozen=True):
    """R_a += K (S - E), E = 1 / (1 + 10^((R_b - R_a) / 400)), S = 1, 1/2 or 0 for a win, a tie or a loss (Elo 1978).

    Outcomes count in log order. Elo predicts no ties; here every pair has the same probability of a tie.

    >>> from streams.core.methods.pairs import Pairs
    >>> Elo(k=32.0).fit(Pairs.parse(">")).scores.tolist()
    [1516.0, 1484.0]
    """

    k: Annotated[Positive, Meta(description="Points that a surprising outcome moves, at most.")] = 16.0

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="The odds of a win depend on the difference of two ratings. Later outcomes count more.",
        cost="one pass over the pairs, in log order; 0.1 s per 100,000 pairs",
        choose="To compare with an arena that publishes Elo. The result depends on the order of the log.",
        reference="Elo 1978",
    )
    runs: ClassVar[int] = 100

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "elo"

    def fit(self, training: Pairs) -> Fitted:
        """Update the ratings with the outcomes, in order."""
        ratings = [START] * len(training.systems)
        for a, b, score in zip(training.a.tolist(), training.b.tolist(), training.points().tolist(), strict=True):
            step = self.k * (score - 1.0 / (1.0 + 10.0 ** ((ratings[b] - ratings[a]) / 400.0)))
            ratings[a] += step
            ratings[b] -= step
        scores = np.array(ratings)
        return Fitted(outcomes=decided(logistic(score_gaps(scores) / SCALE), tie_share(training)), scores=scores)
