"""Peeling: the worst judges are left out of the fit, until the others no longer contradict it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.core.judges.judge_tests import FEWEST_JUDGES, FEWEST_UNITS, run_tests
from streams.core.judges.prediction import Predictor, capped_shares
from streams.core.judges.residuals import residuals

if TYPE_CHECKING:
    from streams.core.judges.judge_tests import FailedTest
    from streams.core.judges.prediction import VotePrediction
    from streams.core.judges.residuals import Residuals
    from streams.core.judges.votes import Ints, Votes


@dataclass(frozen=True, kw_only=True)
class Peeled:
    """The last fit, the residuals of all tested judges against it, and the findings about the flagged judges."""

    prediction: VotePrediction
    residuals: Residuals
    flagged: dict[int, tuple[FailedTest, ...]]


def peel(votes: Votes) -> Peeled:
    """Return the judges whose votes contradict those of the others.

    Every round leaves the worst quarter of the judges above the limit out of the fit. At the end, all of them are
    tested against the last fit. Those who do not contradict it are not flagged: they only seemed guilty beside others.
    """
    predictor, units = Predictor(votes), votes.units
    enough = np.flatnonzero(units >= FEWEST_UNITS)
    tested: Ints = enough if len(enough) >= FEWEST_JUDGES else enough[:0]
    out: set[int] = set()
    while True:
        counted = ~np.isin(np.arange(len(units)), list(out))
        share = np.where(counted, capped_shares(np.where(counted, units, 0.0)), 0.0)
        prediction = predictor.fit(share)
        found = residuals(votes, prediction, share, tested)
        findings = run_tests(found, counted)
        strength: dict[int, float] = {}
        for finding in findings:
            if finding.judge not in out:
                strength[finding.judge] = max(strength.get(finding.judge, 0.0), finding.strength)
        if not strength or len(out) >= len(tested) // 2:
            break
        worst = sorted(strength, key=lambda judge: (-strength[judge], judge))
        out.update(worst[: (len(worst) + 3) // 4])
    flagged: dict[int, list[FailedTest]] = {}
    for finding in sorted(findings, key=lambda each: -each.strength):
        flagged.setdefault(finding.judge, []).append(finding)
    return Peeled(
        prediction=prediction,
        residuals=found,
        flagged={judge: tuple(flagged[judge]) for judge in sorted(flagged)},
    )
