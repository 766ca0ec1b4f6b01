"""Shares of wins: the scores that WMT ranked by before it used models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.base import Fitted, Method, decided, tie_share, total_outcomes
from streams.core.methods.pair_scores import expected_wins

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints


class OrigWmt(Method, frozen=True):
    """score_i = (win + tie) / (win + tie + loss), the score until WMT11 (Callison-Burch et al. 2010).

    >>> from streams.core.methods.pairs import Pairs
    >>> OrigWmt().fit(Pairs.parse(">>=<")).scores.tolist()
    [0.75, 0.5]
    """

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "origwmt"

    def fit(self, training: Pairs) -> Fitted:
        """Count the outcomes."""
        win, tie, loss = total_outcomes(*training.counts())
        return _odds(training, _share(win + tie, win + tie + loss), win + tie + loss)


class Bojar(Method, frozen=True):
    """score_i = win / (win + loss) (Bojar, Ercegovčević, Popel and Zaidan 2011).

    >>> from streams.core.methods.pairs import Pairs
    >>> Bojar().fit(Pairs.parse(">>>=<")).scores.tolist()
    [0.75, 0.25]
    """

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "bojar"

    def fit(self, training: Pairs) -> Fitted:
        """Count the outcomes."""
        win, _, loss = total_outcomes(*training.counts())
        return _odds(training, _share(win, win + loss), win + loss)


class ExpectedWins(Method, frozen=True):
    """score_i = the mean over opponents j of win(i, j) / (win(i, j) + win(j, i)) (Koehn 2012).

    It is the score of WMT12 and WMT13.

    >>> from streams.core.methods.pairs import Pairs
    >>> ExpectedWins().fit(Pairs.parse(">>>=<")).scores.tolist()
    [0.75, 0.25]
    """

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "expected-wins"

    def fit(self, training: Pairs) -> Fitted:
        """Count the outcomes."""
        wins, ties = training.counts()
        win, _, loss = total_outcomes(wins, ties)
        return _odds(training, expected_wins(wins, ties), win + loss)


def _share(part: Ints, whole: Ints) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(whole.shape, 0.5), where=whole > 0)
    return share


def _odds(training: Pairs, scores: Floats, seen: Ints) -> Fitted:
    """Predict from shares: the odds of a win are the ratio of the two systems' odds.

    The papers predict no ties from a score; here every pair has the same probability of a tie. One win and one loss
    are added, to stabilise the share of a system with few outcomes.
    """
    stable = (scores * seen + 1.0) / (seen + 2.0)
    win = stable[:, None] * (1.0 - stable[None, :])
    return Fitted(outcomes=decided(win / (win + win.T), tie_share(training)), scores=scores)
