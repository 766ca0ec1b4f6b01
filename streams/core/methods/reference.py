"""Reference methods of Hopkins and May without abilities: the least that another method has to beat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.base import Fitted, Method, Positive
from streams.core.methods.pairs import TIE

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs


class UniformOutcomes(Method, frozen=True):
    """Q(outcome | a, b) = 1/3 (Hopkins and May 2013, 5.1). The perplexity is 3.

    >>> from streams.core.methods.pairs import Pairs
    >>> UniformOutcomes().fit(Pairs.parse(">>")).predict(0, 1) == (1 / 3, 1 / 3, 1 / 3)
    True
    """

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "uniform"

    def fit(self, training: Pairs) -> Fitted:
        """Learn nothing."""
        size = len(training.systems)
        return Fitted(outcomes=np.full((size, size, 3), 1.0 / 3.0))


class AdjustedUniform(Method, frozen=True):
    """Q(tie) = |C_tie| / |C|, and half of the rest each for win and loss (Hopkins and May 2013, 5.2).

    >>> from streams.core.methods.pairs import Pairs
    >>> AdjustedUniform().fit(Pairs.parse(">==<>")).predict(0, 1)
    Outcome(win=0.3, tie=0.4, loss=0.3)
    """

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "adjusted-uniform"

    def fit(self, training: Pairs) -> Fitted:
        """Count the ties. Without data, all outcomes are equally likely."""
        size = len(training.systems)
        tie = int(np.count_nonzero(training.outcome == TIE)) / len(training) if len(training) else 1.0 / 3.0
        row = np.array([0.5 * (1.0 - tie), tie, 0.5 * (1.0 - tie)])
        return Fitted(outcomes=np.tile(row, (size, size, 1)))


class IndependentPairs(Method, frozen=True):
    """Q(o | a, b) = (alpha + |C_o(a, b)| + |C_o'(b, a)|) / (3 alpha + |C(a, b)| + |C(b, a)|).

    o' is o from the view of b. alpha is the strength of a symmetric Dirichlet prior. Hopkins and May (2013), 6.1.

    >>> from streams.core.methods.pairs import Pairs
    >>> IndependentPairs().fit(Pairs.parse(">>>=<")).predict(0, 1)
    Outcome(win=0.5, tie=0.25, loss=0.25)
    """

    strength: Positive = 1.0

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "independent-pairs"

    def fit(self, training: Pairs) -> Fitted:
        """Count the outcomes."""
        wins, ties = training.counts()
        counts = np.stack([wins, ties, wins.T], axis=-1) + self.strength
        return Fitted(outcomes=counts / counts.sum(axis=-1, keepdims=True))
