"""The bias by position that all judges share: whether the output shown first is preferred more than it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.ranking.cautions import caution

if TYPE_CHECKING:
    from streams.core.judges.votes import Floats
    from streams.wire.leaderboard import Caution

POSITION_LIMIT = 3.0  # standard deviations of the campaign's bias by position
POSITION_EFFECT = 0.02  # smallest bias to report, as a difference of probabilities


@dataclass(frozen=True, kw_only=True)
class PositionBias:
    """How often the judges who are not flagged prefer the output shown first, and how often a fair crowd would."""

    share: float  # of the comparisons with a preference
    predicted: float
    z: float  # standard deviations, with the spread between judges

    @property
    def present(self) -> bool:
        """Whether there is a bias that is larger than chance allows, and large enough to matter."""
        return abs(self.z) > POSITION_LIMIT and abs(self.share - self.predicted) > POSITION_EFFECT

    def cautions(self) -> list[Caution]:
        """Return the caution about the bias, if it is present."""
        if not self.present:
            return []
        message = (
            f"The output shown first was preferred in {self.share:.0%} of the comparisons with a preference; "
            f"without a bias it would be {self.predicted:.0%}. Either the judges prefer a position, or the log "
            "does not list the systems in the order in which they were shown."
        )
        return [caution("position_bias", message)]


def position_bias(first: Floats, later: Floats, excess: Floats) -> PositionBias | None:
    """Return the bias of judges, or None if they prefer nothing.

    For each judge: the weight of the votes for the output shown first, of those for the output shown later, and the
    difference of the two minus what a fair judge would have.

    >>> bias = position_bias(np.full(20, 6.0), np.full(20, 4.0), np.full(20, 2.0))
    >>> bias.share, bias.predicted, bias.present
    (0.6, 0.5, True)
    """
    decided = float(first.sum() + later.sum())
    if decided == 0.0:
        return None
    share, bias = float(first.sum()) / decided, float(excess.sum())
    return PositionBias(
        share=share,
        predicted=share - 0.5 * bias / decided,
        z=bias / max(float(np.sqrt((excess**2).sum())), 1e-12),
    )
