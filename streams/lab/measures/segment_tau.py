"""Segment-level Kendall's tau with human rankings, with ties penalised or ignored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.methods.pairs import TIE

if TYPE_CHECKING:
    from streams.core.methods.pairs import Pairs
    from streams.core.models.base import Floats


@dataclass(frozen=True, kw_only=True)
class SegmentTau:
    """Pairs that humans did not tie: how many the hypothesis orders in the same way, in the opposite way, or ties.

    >>> tau = SegmentTau(concordant=6, discordant=2, tied=2)
    >>> tau.penalised, tau.ignored, tau.decisions
    (0.2, 0.5, 8)
    """

    concordant: int
    discordant: int
    tied: int

    @property
    def penalised(self) -> float:
        """(concordant - discordant - tied) / all: a tie counts as a wrong order. NaN without pairs."""
        total = self.concordant + self.discordant + self.tied
        return (self.concordant - self.discordant - self.tied) / total if total else float("nan")

    @property
    def ignored(self) -> float:
        """(concordant - discordant) / (concordant + discordant): ties are ignored. NaN with ties only."""
        return (self.concordant - self.discordant) / self.decisions if self.decisions else float("nan")

    @property
    def decisions(self) -> int:
        """The number of pairs that the hypothesis did not tie, printed in the findings beside `ignored`."""
        return self.concordant + self.discordant


def segment_tau(scores: Floats, pairs: Pairs) -> SegmentTau:
    """Compare scores[segment, system] (higher is better) with the verdicts of judges on pairs.

    WMT13 findings, 6.6: a pair counts as often as it was judged. Pairs that a judge tied do not count.

    >>> from streams.core.methods.pairs import Pairs
    >>> segment_tau(np.array([[0.7, 0.2]]), Pairs.parse(">><="))
    SegmentTau(concordant=2, discordant=1, tied=0)
    """
    judged = pairs.select(pairs.outcome != TIE)
    human = TIE - judged.outcome
    proposed = np.sign(scores[judged.segment, judged.a] - scores[judged.segment, judged.b])
    return SegmentTau(
        concordant=int(np.count_nonzero(proposed == human)),
        discordant=int(np.count_nonzero(proposed == -human)),
        tied=int(np.count_nonzero(proposed == 0)),
    )
