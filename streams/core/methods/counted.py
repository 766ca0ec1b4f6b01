"""Methods that need only the counts of each pair: wins and ties. Their bootstrap does not grow with the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.methods.base import Fitted, Method, tie_share

if TYPE_CHECKING:
    from typing import Self

    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints


class CountMethod(Method, frozen=True):
    """A method whose scores are a function of wins[i, j] and ties[i, j].

    >>> from streams.core.methods.win_shares import Bojar
    >>> Bojar().score_tables(np.array([[[0, 3], [1, 0]], [[0, 1], [1, 0]]]), np.zeros((2, 2, 2), int)).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    whole_log: ClassVar[bool] = False

    def score(self, wins: Ints, ties: Ints) -> Floats:
        """Return the score of each system from one table of counts."""
        raise NotImplementedError

    def score_tables(self, wins: Ints, ties: Ints) -> Floats:
        """Return the scores from many tables, one row per table."""
        scores = [self.score(*table) for table in zip(wins, ties, strict=True)]
        return np.array(scores).reshape(len(wins), wins.shape[-1])

    def reseeded(self, number: int) -> Self:  # noqa: ARG002 - most methods draw nothing
        """Return the method with the random draws of the bootstrap samples from this number on."""
        return self

    def predict_all(self, scores: Floats, wins: Ints, ties: Ints, tie: float) -> Floats:
        """Return P(win), P(tie), P(loss) of every two systems, where `tie` is the probability of a tie."""
        raise NotImplementedError

    def fit(self, training: Pairs) -> Fitted:
        """Count the outcomes and score the counts."""
        wins, ties = training.counts()
        scores = self.score(wins, ties)
        return Fitted(outcomes=self.predict_all(scores, wins, ties, tie_share(training)), scores=scores)
