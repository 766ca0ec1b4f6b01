"""What every model of the lab is: fitted once on pairwise outcomes, then asked for probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta, Struct

from streams.core.methods.pairs import TIE
from streams.core.models import Outcome

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints

Positive = Annotated[float, Meta(gt=0, le=1e6)]
Whole = Annotated[int, Meta(ge=1, le=1_000_000)]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What a model learned: `outcomes[a, b]` is P(win), P(tie), P(loss) of a against b.

    `scores` are by system, with their `deviations`, where the model has them; so are the `reliabilities` of judges.
    """

    outcomes: Floats
    scores: Floats | None = None
    deviations: Floats | None = None
    reliabilities: Floats | None = None

    def __post_init__(self) -> None:
        for array in (self.outcomes, self.scores, self.deviations, self.reliabilities):
            if array is not None:
                array.flags.writeable = False

    def predict(self, a: int, b: int) -> Outcome:
        """Give the probabilities of the outcomes of a against b."""
        return Outcome(*self.outcomes[a, b].tolist())

    def probabilities(self, pairs: Pairs) -> Floats:
        """Give the probabilities of the outcomes of each pair, one a row."""
        return self.outcomes[pairs.a, pairs.b]


class Method(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model with its options, that its fields declare with bounds and defaults."""

    @property
    def name(self) -> str:
        """Name it in the registry."""
        raise NotImplementedError

    @property
    def antisymmetric(self) -> bool:
        """Say whether the answer for b against a is the one for a against b turned around."""
        return True

    def fit(self, training: Pairs) -> Fitted:
        """Learn from outcomes; the same ones give the same bits."""
        raise NotImplementedError


def tie_share(training: Pairs) -> float:
    """Give the share of ties, one outcome of each kind added: a third where nothing is known.

    >>> from streams.core.methods.pairs import Pairs
    >>> tie_share(Pairs.parse("><=="))
    0.42857142857142855
    """
    return (int(np.count_nonzero(training.outcome == TIE)) + 1) / (len(training) + 3)


def decided(win: Floats, tie: float) -> Floats:
    """Share out what ties leave by the probability of a win among decided outcomes.

    >>> decided(np.array([[0.5, 0.75], [0.25, 0.5]]), 0.2)[0, 1].round(3).tolist()
    [0.6, 0.2, 0.2]
    """
    return np.stack([(1.0 - tie) * win, np.full(win.shape, tie), (1.0 - tie) * (1.0 - win)], axis=-1)


def logistic(x: Floats) -> Floats:
    """Give 1 / (1 + exp(-x)), without overflow.

    >>> logistic(np.array([-1000.0, 0.0])).tolist()
    [0.0, 0.5]
    """
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def total_outcomes(wins: Ints, ties: Ints) -> tuple[Ints, Ints, Ints]:
    """Give each system's wins, ties and losses over all opponents."""
    return wins.sum(axis=1), ties.sum(axis=1), wins.sum(axis=0)
