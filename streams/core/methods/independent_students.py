"""The outcomes of each system against any opponent, combined to predict two systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from streams.core.methods.base import Fitted, Method, Positive, total_outcomes

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs


class IndependentStudents(Method, frozen=True):
    """Q(o | a), estimated under a symmetric Dirichlet prior, and from it Q(o | a, b) (Hopkins and May 2013, 6.2).

    asymmetric: Q(o | a), for any b; arithmetic: (Q(o | a) + Q(o' | b)) / 2; geometric: sqrt(Q(o | a) Q(o' | b)),
    here divided by its sum, unlike in the paper. o' is o from the view of b. The score is Q(win | a) - Q(loss | a).

    >>> from streams.core.methods.pairs import Pairs
    >>> IndependentStudents(mean="arithmetic").fit(Pairs.parse(">>>=<")).predict(0, 1)
    Outcome(win=0.5, tie=0.25, loss=0.25)
    """

    mean: Literal["asymmetric", "arithmetic", "geometric"] = "geometric"
    strength: Positive = 1.0

    @property
    def name(self) -> str:
        """The name in the registry, with the mean."""
        return f"independent-students-{self.mean}"

    @property
    def antisymmetric(self) -> bool:
        """False for the asymmetric mean, which ignores b."""
        return self.mean != "asymmetric"

    def fit(self, training: Pairs) -> Fitted:
        """Count the outcomes."""
        counts = np.stack(total_outcomes(*training.counts()), axis=-1) + self.strength
        ability = counts / counts.sum(axis=-1, keepdims=True)
        mine, theirs = np.broadcast_arrays(ability[:, None], ability[None, :, ::-1])
        if self.mean == "asymmetric":
            outcomes = mine.copy()
        elif self.mean == "arithmetic":
            outcomes = 0.5 * (mine + theirs)
        else:
            outcomes = np.sqrt(mine * theirs)
            outcomes /= outcomes.sum(axis=-1, keepdims=True)
        return Fitted(outcomes=outcomes, scores=ability[:, 0] - ability[:, 2])
