"""Why a judge is flagged, in words and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.core.judges.prediction import median

if TYPE_CHECKING:
    from streams.core.judges.judge_tests import Bools, FailedTest
    from streams.core.judges.prediction import VotePrediction
    from streams.core.judges.votes import Floats, Ints, Votes


def reason_for(finding: FailedTest, votes: Votes, prediction: VotePrediction) -> str:
    """Return what the judge did and what the votes of the others predict.

    An example: "voted for x in 58 of 60 matches; the other judges' votes predict 31".
    """
    if finding.kind == "fast":
        typical = median(votes.seconds[np.isfinite(votes.seconds)])
        own = float(votes.seconds[finding.judge])
        return f"takes {own:.1f} seconds per judgment; half of the judges take {typical:.1f} or more"
    rows = votes.judge == finding.judge
    if finding.system >= 0:
        rows &= (votes.first == finding.system) | (votes.second == finding.system)
    count, outcome, expected, tie = (
        column[rows] for column in (votes.count, votes.outcome, prediction.expected, prediction.tie)
    )
    noun = "matches" if votes.matches else "comparisons"
    ties = _counted("said that both are equal", noun, count, outcome == 0, tie)
    if finding.kind in ("ties", "often_ties"):
        return ties[1]
    if finding.kind in ("favours", "opposes"):
        side = np.where(votes.first[rows] == finding.system, 1, -1) * (1 if finding.kind == "favours" else -1)
        did = f"voted {'for' if finding.kind == 'favours' else 'against'} {votes.systems[finding.system]}"
    elif finding.kind == "disagrees":
        side, did = np.where(expected >= 0.0, 1, -1), "preferred the system that the others rate higher"
    else:
        side = np.full(len(count), 1 if finding.kind == "first" else -1)
        did = f"preferred the output shown {'first' if finding.kind == 'first' else 'later'}"
    hit, chance = outcome == side, 0.5 * (1.0 - tie + side * expected)
    told = [_counted(did, noun, count, hit, chance)]
    decided = outcome != 0
    if finding.kind == "disagrees" and decided.any():
        on = f"{noun} with a preference"
        few, text = _counted(did, on, count[decided], hit[decided], (chance / (1.0 - tie))[decided])
        told = [(-few, text), ties]
    elif finding.kind in ("favours", "opposes"):
        told.append(_counted(f"{did}, or for a tie,", noun, count, hit | ~decided, chance + tie))
    return max(told)[1]  # the count that is the furthest from the prediction


def _counted(did: str, noun: str, count: Ints, hit: Bools, chance: Floats) -> tuple[float, str]:
    """Return how far the hits are above the prediction, in standard deviations, and the sentence."""
    hits, predicted = int(count[hit].sum()), float(count @ chance)
    deviation = float(np.sqrt(count @ (chance * (1.0 - chance)))) + 1e-12
    text = f"{did} in {hits:,} of {int(count.sum()):,} {noun}; the other judges' votes predict {predicted:,.0f}"
    return (hits - predicted) / deviation, text
