"""Bradley-Terry with ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.base import Fitted, Method, Positive
from streams.core.methods.minimiser import minimise
from streams.core.methods.tie_radius import score_gaps

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats


class Davidson(Method, frozen=True):
    """P(win) : P(tie) : P(loss) = e^theta_a : nu e^((theta_a + theta_b) / 2) : e^theta_b (Davidson 1970).

    The fit is the maximum of the posterior, with theta and log nu ~ N(0, deviation²).

    >>> from streams.core.methods.pairs import Pairs
    >>> [round(p, 2) for p in Davidson(deviation=1000.0).fit(Pairs.parse(">>>>>>===<")).predict(0, 1)]
    [0.6, 0.3, 0.1]
    """

    deviation: Positive = 1.0

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "bradley-terry-ties"

    def fit(self, training: Pairs) -> Fitted:
        """Maximise the posterior."""
        wins, ties = training.counts()
        size = len(wins)
        counts = 0.5 * np.stack([wins, ties, wins.T], axis=-1)  # every outcome is counted twice, from a and from b

        def loss(point: Floats) -> tuple[float, Floats]:
            logs = davidson(score_gaps(point[:size]), point[size])
            surplus = counts - counts.sum(axis=-1, keepdims=True) * np.exp(logs)
            by_gap = 0.5 * (surplus[..., 0] - surplus[..., 2])
            gradient = np.append(by_gap.sum(axis=1) - by_gap.sum(axis=0), surplus[..., 1].sum())
            prior = point / self.deviation**2
            return 0.5 * float(point @ prior) - float((counts * logs).sum()), prior - gradient

        point = minimise(loss, np.zeros(size + 1)).point
        return Fitted(outcomes=np.exp(davidson(score_gaps(point[:size]), point[size])), scores=point[:size])


def davidson(gap: Floats, log_nu: float) -> Floats:
    """Return the logarithms of P(win), P(tie), P(loss) for theta_a - theta_b, on a new last axis.

    >>> np.exp(davidson(np.zeros(1), 0.0)).round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """
    weights = np.stack([0.5 * gap, np.full(gap.shape, log_nu), -0.5 * gap], axis=-1)
    weights -= weights.max(axis=-1, keepdims=True)
    logs: Floats = weights - np.log(np.exp(weights).sum(axis=-1, keepdims=True))
    return logs
