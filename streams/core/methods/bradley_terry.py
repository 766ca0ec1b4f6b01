"""Bradley-Terry on pair counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta

from streams.core.methods.base import Positive, decided, logistic
from streams.core.methods.counted import CountMethod
from streams.core.methods.tie_radius import score_gaps
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints

LONGEST_STEP = 1.0
CLOSE = 1e-10
MOST_STEPS = 200


class BradleyTerry(CountMethod, frozen=True):
    """P(i beats j) = 1 / (1 + exp(theta_j - theta_i)); a tie is half a win each (Bradley and Terry 1952).

    The scores are the maximum of the posterior with theta ~ N(0, deviation²), by Newton's method. Their sum is zero.
    Without a prior, a system that won or lost everything would have an infinite strength.

    >>> BradleyTerry().score(np.array([[0, 30], [10, 0]]), np.zeros((2, 2), int)).round(3).tolist()
    [0.549, -0.549]
    """

    deviation: Annotated[Positive, Meta(description="Deviation of the prior of a log-strength.")] = 10.0

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="The odds of a win depend on the difference of two strengths. A tie is half a win for each side.",
        cost="pair counts; milliseconds",
        choose="For arenas, and when systems met opponents of different strength.",
        reference="Bradley and Terry 1952",
    )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "bradley-terry"

    def score(self, wins: Ints, ties: Ints) -> Floats:
        """Return the log-strengths, of one table or of many at once."""
        won = wins + 0.5 * ties
        met = won + won.swapaxes(-1, -2)
        theta = np.zeros(won.shape[:-1])
        ridge = np.eye(won.shape[-1]) / self.deviation**2
        for _ in range(MOST_STEPS):
            win = logistic(score_gaps(theta))
            gradient = (won - met * win).sum(axis=-1) - theta / self.deviation**2
            weight = met * win * win.swapaxes(-1, -2)
            curvature = ridge - weight
            np.einsum("...ii->...i", curvature)[...] += weight.sum(axis=-1)
            step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
            # Where the curvature is small, a full step can overshoot.
            longest = np.abs(step).max(axis=-1, keepdims=True, initial=0.0)
            theta += step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
            if longest.max(initial=0.0) < CLOSE:
                break
        return theta

    def score_tables(self, wins: Ints, ties: Ints) -> Floats:
        """Return the log-strengths from many tables, one row per table."""
        return self.score(wins, ties)

    def predict_all(self, scores: Floats, wins: Ints, ties: Ints, tie: float) -> Floats:  # noqa: ARG002
        """Return the model's probabilities. It predicts no ties; here every pair has the same probability of one."""
        return decided(logistic(score_gaps(scores)), tie)
