"""Kendall's tau of a hypothesis with human rankings, segment by segment, where ties are penalised or ignored."""

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
    """Of the pairs that humans did not tie: how many the hypothesis orders as they do, the other way, or ties.

    >>> tau = SegmentTau(concordant=6, discordant=2, tied=2)
    >>> tau.penalised, tau.ignored, tau.decisions
    (0.2, 0.5, 8)
    """

    concordant: int
    discordant: int
    tied: int

    @property
    def penalised(self) -> float:
        """Give (concordant - discordant - tied) / all: a tie is as bad as the wrong order; NaN of nothing."""
        total = self.concordant + self.discordant + self.tied
        return (self.concordant - self.discordant - self.tied) / total if total else float("nan")

    @property
    def ignored(self) -> float:
        """Give (concordant - discordant) / (concordant + discordant): a tie does no harm; NaN of ties alone."""
        return (self.concordant - self.discordant) / self.decisions if self.decisions else float("nan")

    @property
    def decisions(self) -> int:
        """Count the pairs that the hypothesis did not tie, which the findings print beside the second."""
        return self.concordant + self.discordant


def segment_tau(scores: Floats, pairs: Pairs) -> SegmentTau:
    """Compare scores[segment, system], where more is better, with what judges said of pairs on segments.

    WMT13 findings, 6.6: a pair counts as often as it was judged, and pairs that a judge tied do not count.

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
