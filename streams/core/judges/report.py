"""The report on the judges of a log: who is flagged and why, which systems they favour, and the bias by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.judges.alarm import favoured_systems
from streams.core.judges.judge_tests import fast_judges
from streams.core.judges.peeling import peel
from streams.core.judges.position import position_bias
from streams.core.judges.power import power_of
from streams.core.judges.reasons import reason_for

if TYPE_CHECKING:
    from streams.core.judges.alarm import FavouredSystem
    from streams.core.judges.judge_tests import Bools, Kind
    from streams.core.judges.peeling import Peeled
    from streams.core.judges.position import PositionBias
    from streams.core.judges.power import DetectionPower
    from streams.core.judges.prediction import VotePrediction
    from streams.core.judges.votes import Votes

HABITS = ("fast", "often_ties")


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One test that a judge fails. `strength` is the residual as a multiple of the limit."""

    kind: Kind
    message: str
    strength: float
    system: str | None = None


@dataclass(frozen=True, kw_only=True)
class FlaggedJudge:
    """A judge whose votes contradict those of the others, or who is much faster. An operator decides about them."""

    judge: str
    judgments: int
    reasons: tuple[Reason, ...]  # the strongest first

    @property
    def by_votes(self) -> bool:
        """Whether what they prefer is the reason. Speed or many ties alone do not show that a preference is wrong."""
        return any(reason.kind not in HABITS for reason in self.reasons)

    @property
    def message(self) -> str:
        """The strongest reason in words."""
        return self.reasons[0].message


@dataclass(frozen=True, kw_only=True)
class JudgeReport:
    """What the votes say about the judges. `tested` of them have enough votes."""

    judges: int
    tested: int
    judgments: int
    flagged: tuple[FlaggedJudge, ...]  # sorted by name
    alarms: tuple[FavouredSystem, ...]
    position_bias: PositionBias | None  # None: there is no vote
    largest: tuple[str, float] | None  # the judge with the most judgments, and their share
    power: DetectionPower


def examine_judges(votes: Votes) -> JudgeReport:
    """Test the votes of each judge against what the votes of the others predict.

    >>> from streams.core.judges.votes import Votes
    >>> examine_judges(Votes.of([])).flagged
    ()
    """
    return report_on(votes, peel(votes))


def report_on(votes: Votes, peeled: Peeled) -> JudgeReport:
    """Return the report on votes that have been peeled."""
    findings = {judge: list(each) for judge, each in peeled.flagged.items()}
    for finding in fast_judges(votes):
        findings.setdefault(finding.judge, []).append(finding)
    flagged = tuple(
        FlaggedJudge(
            judge=votes.judges[judge],
            judgments=int(votes.judgments[judge]),
            reasons=tuple(
                Reason(
                    kind=finding.kind,
                    message=reason_for(finding, votes, peeled.prediction),
                    strength=finding.strength,
                    system=votes.systems[finding.system] if finding.system >= 0 else None,
                )
                for finding in findings[judge]
            ),
        )
        for judge in sorted(findings)
    )
    counted = ~np.isin(np.arange(len(votes.judges)), list(peeled.flagged))
    total, most = int(votes.judgments.sum()), int(np.argmax(votes.judgments)) if len(votes.judges) else 0
    return JudgeReport(
        judges=len(votes.judges),
        tested=len(peeled.residuals.judge),
        judgments=total,
        flagged=flagged,
        alarms=favoured_systems(votes.systems, peeled.residuals, counted),
        position_bias=_position_bias(votes, peeled.prediction, counted),
        largest=(votes.judges[most], int(votes.judgments[most]) / total) if total else None,
        power=power_of(peeled.residuals, votes.units),
    )


def _position_bias(votes: Votes, prediction: VotePrediction, counted: Bools) -> PositionBias | None:
    weight, outcome = votes.weight * counted[votes.judge], votes.outcome
    first, later, excess = (
        np.bincount(votes.judge, weight * each, len(votes.judges)).astype(np.float64)
        for each in (outcome > 0, outcome < 0, outcome - prediction.fairly_expected)
    )
    return position_bias(first, later, excess)
