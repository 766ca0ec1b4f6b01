"""Elo ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.base import Fitted, Method, Positive, decided, logistic, tie_share
from streams.core.methods.tie_radius import score_gaps

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

    k: Positive = 16.0

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
