"""Bradley-Terry with ties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.methods.base import Fitted, Positive
from streams.core.methods.counted import CountMethod
from streams.core.methods.minimiser import minimise
from streams.core.methods.tie_radius import score_gaps
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints


class Davidson(CountMethod, frozen=True):
    """P(win) : P(tie) : P(loss) = e^theta_a : nu e^((theta_a + theta_b) / 2) : e^theta_b (Davidson 1970).

    The fit is the maximum of the posterior, with theta and log nu ~ N(0, deviation²).

    >>> from streams.core.methods.pairs import Pairs
    >>> [round(p, 2) for p in Davidson(deviation=1000.0).fit(Pairs.parse(">>>>>>===<")).predict(0, 1)]
    [0.6, 0.3, 0.1]
    """

    deviation: Annotated[
        Positive, Meta(description="Deviation of the prior of a log-strength, and of the log of nu.")
    ] = 1.0

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Like bradley-terry, with a probability of a tie that is largest between equals.",
        cost="pair counts; about 10 ms",
        choose="If ties are common and their share should be predicted too.",
        reference="Davidson 1970",
    )
    runs: ClassVar[int] = 100

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "bradley-terry-ties"

    def score(self, wins: Ints, ties: Ints) -> Floats:
        """Return the log-strengths."""
        return self._maximum(wins, ties)[:-1]

    def fit(self, training: Pairs) -> Fitted:
        """Maximise the posterior. The probabilities are the model's own, with its ties."""
        point = self._maximum(*training.counts())
        return Fitted(outcomes=np.exp(davidson(score_gaps(point[:-1]), point[-1])), scores=point[:-1])

    def _maximum(self, wins: Ints, ties: Ints) -> Floats:
        """Return theta and log nu at the maximum of the posterior."""
        size = len(wins)
        counts = 0.5 * np.stack([wins, ties, wins.T], axis=-1)  # every outcome is counted twice, from a and from b

        def loss(point: Floats) -> tuple[float, Floats]:
            logs = davidson(score_gaps(point[:size]), point[size])
            surplus = counts - counts.sum(axis=-1, keepdims=True) * np.exp(logs)
            by_gap = 0.5 * (surplus[..., 0] - surplus[..., 2])
            gradient = np.append(by_gap.sum(axis=1) - by_gap.sum(axis=0), surplus[..., 1].sum())
            prior = point / self.deviation**2
            return 0.5 * float(point @ prior) - float((counts * logs).sum()), prior - gradient

        return minimise(loss, np.zeros(size + 1)).point


def davidson(gap: Floats, log_nu: float) -> Floats:
    """Return the logarithms of P(win), P(tie), P(loss) for theta_a - theta_b, on a new last axis.

    >>> np.exp(davidson(np.zeros(1), 0.0)).round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """
    weights = np.stack([0.5 * gap, np.full(gap.shape, log_nu), -0.5 * gap], axis=-1)
    weights -= weights.max(axis=-1, keepdims=True)
    logs: Floats = weights - np.log(np.exp(weights).sum(axis=-1, keepdims=True))
    return logs
