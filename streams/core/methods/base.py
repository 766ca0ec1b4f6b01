"""The interface of all methods: fit once on pairwise outcomes, then predict probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta, Struct

from streams.core.methods.pairs import TIE
from streams.core.models import Outcome
from streams.core.models.card import ModelCard  # noqa: TC001 - msgspec reads the annotation

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats, Ints

Positive = Annotated[float, Meta(gt=0, le=1e6)]
Whole = Annotated[int, Meta(ge=1, le=1_000_000)]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The result of a fit: `outcomes[a, b]` is P(win), P(tie), P(loss) of a against b.

    `scores` and `deviations` are by system, `reliabilities` by judge. Each is None if the method has none.
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
        """Return the probabilities of the outcomes of a against b."""
        return Outcome(*self.outcomes[a, b].tolist())

    def probabilities(self, pairs: Pairs) -> Floats:
        """Return the probabilities of the outcomes of each pair, one row per pair."""
        return self.outcomes[pairs.a, pairs.b]


class Method(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A method with its parameters. Each parameter is a field with bounds, a default and a description.

    A method with a card can rank a log. Others predict outcomes but do not rank; only the lab uses them. `ranges` are
    the rank ranges that it offers, the default first. A bootstrap takes `runs` samples unless told otherwise.
    """

    card: ClassVar[ModelCard | None] = None
    ranges: ClassVar[tuple[str, ...]] = ("bootstrap",)
    runs: ClassVar[int] = 1000
    whole_log: ClassVar[bool] = True  # whether the method needs every pair in memory, and not only the counts

    @property
    def name(self) -> str:
        """The name in the registry."""
        raise NotImplementedError

    @property
    def antisymmetric(self) -> bool:
        """Whether the prediction for b against a mirrors that for a against b."""
        return True

    def fit(self, training: Pairs) -> Fitted:
        """Fit to outcomes. The same outcomes give the same bits."""
        raise NotImplementedError


def tie_share(training: Pairs) -> float:
    """Return the share of ties, with one outcome of each kind added. Without data it is a third.

    >>> from streams.core.methods.pairs import Pairs
    >>> tie_share(Pairs.parse("><=="))
    0.42857142857142855
    """
    return (int(np.count_nonzero(training.outcome == TIE)) + 1) / (len(training) + 3)


def decided(win: Floats, tie: float) -> Floats:
    """Return P(win), P(tie), P(loss) from the probability of a win among decided outcomes and that of a tie.

    >>> decided(np.array([[0.5, 0.75], [0.25, 0.5]]), 0.2)[0, 1].round(3).tolist()
    [0.6, 0.2, 0.2]
    """
    return np.stack([(1.0 - tie) * win, np.full(win.shape, tie), (1.0 - tie) * (1.0 - win)], axis=-1)


def logistic(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), without overflow.

    >>> logistic(np.array([-1000.0, 0.0])).tolist()
    [0.0, 0.5]
    """
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def total_outcomes(wins: Ints, ties: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the wins, ties and losses of each system over all opponents."""
    return wins.sum(axis=1), ties.sum(axis=1), wins.sum(axis=0)
