"""Shares of wins: the scores that WMT ranked by before it used models."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from streams.core.methods.base import decided
from streams.core.methods.counted import CountMethod
from streams.core.models.card import ModelCard

if TYPE_CHECKING:
    from streams.core.models.base import Floats, Ints

COST = "pair counts; milliseconds"


class _WinShares(CountMethod, frozen=True):
    """A score that is a share of wins. All tables are scored at once."""

    def score_tables(self, wins: Ints, ties: Ints) -> Floats:
        """Return the scores from many tables, one row per table."""
        return self.score(wins, ties)

    def predict_all(self, scores: Floats, wins: Ints, ties: Ints, tie: float) -> Floats:
        """Predict from shares: the odds of a win are the ratio of the two systems' odds.

        The papers predict no ties from a score; here every pair has the same probability of a tie. One win and one
        loss are added, to stabilise the share of a system with few outcomes.
        """
        seen = self.counted(wins, ties)
        stable = (scores * seen + 1.0) / (seen + 2.0)
        win = stable[:, None] * (1.0 - stable[None, :])
        return decided(win / (win + win.T), tie)

    def counted(self, wins: Ints, ties: Ints) -> Ints:  # noqa: ARG002 - most ignore ties
        """Return the number of outcomes of each system that its share is of."""
        total: Ints = wins.sum(axis=-1) + wins.sum(axis=-2)
        return total


class OrigWmt(_WinShares, frozen=True):
    """score_i = (win + tie) / (win + tie + loss), the score until WMT11 (Callison-Burch et al. 2010).

    >>> from streams.core.methods.pairs import Pairs
    >>> OrigWmt().fit(Pairs.parse(">>=<")).scores.tolist()
    [0.75, 0.5]
    """

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="A tie is as good as a win, and opponents are equally strong on average.",
        cost=COST,
        choose="To compare with WMT10 and earlier. Ties with a copy of a system lift its score.",
        reference="Callison-Burch et al. 2010",
    )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "origwmt"

    def score(self, wins: Ints, ties: Ints) -> Floats:
        """Return the share of comparisons that were not lost."""
        return _share((wins + ties).sum(axis=-1), self.counted(wins, ties))

    def counted(self, wins: Ints, ties: Ints) -> Ints:
        """Return the number of outcomes, with ties."""
        total: Ints = super().counted(wins, ties) + ties.sum(axis=-1)
        return total


class Bojar(_WinShares, frozen=True):
    """score_i = win / (win + loss) (Bojar, Ercegovčević, Popel and Zaidan 2011).

    >>> from streams.core.methods.pairs import Pairs
    >>> Bojar().fit(Pairs.parse(">>>=<")).scores.tolist()
    [0.75, 0.25]
    """

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Opponents are equally strong on average. Ties are ignored.",
        cost=COST,
        choose="To compare with WMT11. A system that often met weak opponents has a better score.",
        reference="Bojar et al. 2011",
    )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "bojar"

    def score(self, wins: Ints, ties: Ints) -> Floats:
        """Return the share of decided comparisons that were won."""
        return _share(wins.sum(axis=-1), self.counted(wins, ties))


class ExpectedWins(_WinShares, frozen=True):
    """score_i = the mean over opponents j of win(i, j) / (win(i, j) + win(j, i)) (Koehn 2012; Bojar et al. 2013).

    It is the score of WMT12 and WMT13. A system without a decided outcome has 0.5.

    >>> from streams.core.methods.pairs import Pairs
    >>> ExpectedWins().fit(Pairs.parse(">>>=<")).scores.tolist()
    [0.75, 0.25]
    >>> ExpectedWins().score(np.array([[0, 3, 1], [1, 0, 1], [1, 1, 0]]), np.zeros((3, 3), int)).tolist()
    [0.625, 0.375, 0.5]
    """

    card: ClassVar[ModelCard | None] = ModelCard(
        assumes="Every opponent counts the same, however often it was met. Ties are ignored.",
        cost=COST,
        choose="To compare with WMT13, or if a score must be easy to explain. Every pair needs some judgments.",
        reference="Koehn 2012",
    )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "expected-wins"

    def score(self, wins: Ints, ties: Ints) -> Floats:  # noqa: ARG002 - by definition, ties do not matter
        """Return the mean share of wins over the opponents with a decided outcome."""
        met = wins + wins.swapaxes(-1, -2)
        share = np.divide(wins, met, out=np.zeros(met.shape), where=met > 0)
        return _share(share.sum(axis=-1), (met > 0).sum(axis=-1))


def _share(part: Ints | Floats, whole: Ints) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(whole.shape, 0.5), where=whole > 0)
    return share
