"""The ranking that overrules the fewest judgments: a minimum feedback arc set."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.methods.base import decided
from streams.core.methods.counted import CountMethod
from streams.core.methods.linear_ordering import best_positions
from streams.core.methods.win_shares import ExpectedWins
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints


class TotalOrder(CountMethod, frozen=True):
    """A method that ranks by the least total cost. The score of a system is the number of systems below it.

    Equally good rankings are resolved by Expected Wins, then by name. Systems that no judgment separates, not even by
    way of others, share a score.
    """

    def costs(self, wins: Ints) -> Floats:
        """Return the cost of ranking the row's system above the column's, for one table or for many."""
        raise NotImplementedError

    def score(self, wins: Ints, ties: Ints) -> Floats:
        """Return the number of systems below each system in the best ranking."""
        return len(wins) - best_positions(self.costs(wins), ExpectedWins().score(wins, ties))

    def score_tables(self, wins: Ints, ties: Ints) -> Floats:
        """Return the scores from many tables, one row per table."""
        tables = zip(self.costs(wins), ExpectedWins().score(wins, ties), strict=True)
        positions: Floats = np.array([best_positions(*table) for table in tables]).reshape(wins.shape[:2])
        scores: Floats = wins.shape[-1] - positions
        return scores

    def predict_all(self, scores: Floats, wins: Ints, ties: Ints, tie: float) -> Floats:  # noqa: ARG002
        """Predict that the higher system wins as often as decided comparisons agreed with the ranking.

        The papers do not predict from a ranking. One comparison of each kind is added.
        """
        above = scores[:, None] > scores[None, :]
        agree = int(wins[above].sum())
        share = (agree + 1.0) / (agree + int(wins[above.T].sum()) + 2.0)
        return decided(np.where(above, share, np.where(above.T, 1.0 - share, 0.5)), tie)


class FeedbackArcSet(TotalOrder, frozen=True):
    """The ranking r that minimises sum over i above j in r of max(0, win(j, i) - win(i, j)) (Lopez 2012).

    Systems are the nodes of a graph. If i won more often than it lost against j, there is an arc from i to j, weighted
    by the difference. The arcs against the ranking are a feedback arc set: without them, there is no cycle. Ties are
    ignored. The search is exact, see `linear_ordering`.

    >>> from streams.core.methods.pairs import Pairs
    >>> FeedbackArcSet().fit(Pairs.parse(">><=")).scores.tolist()
    [1.0, 0.0]
    """

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="There is one true order, and every judgment against it is an equal error. No strengths.",
        cost="pair counts; doubles with each system in a common cycle, at most 20 of them",
        choose="If only the order matters and every judgment is a vote. It does not show how far systems are apart.",
        reference="Lopez 2012",
    )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "feedback-arc-set"

    def costs(self, wins: Ints) -> Floats:
        """Return the judgments that prefer the column's system."""
        return wins.swapaxes(-1, -2).astype(np.float64)
