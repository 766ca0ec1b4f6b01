"""Control items: which controls a judge meets and passes."""

from __future__ import annotations

import numpy as np
import pytest

from streams.agreement.agreement import inter_agreement
from streams.agreement.controls import ControlScores, by_threshold, score_controls
from streams.core.methods.pairs import Pairs
from streams.errors import ParameterError
from tests.core.methods.outcomes import drawn, turned


def counted_out(pairs: Pairs, makers: np.ndarray, margin: int) -> tuple[list[int], list[int]]:
    """Count controls by brute force: compare every row with the rows of all other makers."""
    rows = list(zip(pairs.segment, pairs.judge, pairs.a, pairs.b, pairs.outcome, makers, strict=True))
    met, passed = [0] * len(pairs.judges), [0] * len(pairs.judges)
    for segment, judge, a, b, outcome, _ in rows:
        better = worse = 0
        for other_segment, other, c, d, said, maker in rows:
            if maker and other != judge and other_segment == segment and {a, b} == {c, d} and said != 1:
                first = (said == 0) == (a == c)  # whether the other one put a first
                better, worse = better + first, worse + (not first)
        if abs(better - worse) > margin:
            met[judge] += 1
            passed[judge] += outcome == (0 if better > worse else 2)
    return met, passed


@pytest.mark.parametrize("margin", [0, 1, 3])
@pytest.mark.parametrize("trusted", [2, 6])
def test_controls_are_comparisons_that_are_clear_to_other_judges(margin: int, trusted: int) -> None:
    pairs = drawn(240, segments=2, judges=6, careless=1)
    makers = pairs.judge >= 6 - trusted
    trial = score_controls(pairs, makers, margin=margin)
    assert (trial.met.tolist(), trial.passed.tolist()) == counted_out(pairs, makers, margin)
    other = turned(pairs)
    np.testing.assert_array_equal(score_controls(other, makers, margin=margin).passed, trial.passed)


def test_a_careless_judge_fails_and_the_others_pass() -> None:
    pairs = drawn(3000, segments=3, judges=8, careless=2, qualities=(3.0, 1.5, 0.0, -1.5, -3.0))
    trial = score_controls(pairs, pairs.judge >= 0)
    assert trial.rejected().tolist() == [0, 1]
    assert trial.share[:2].max() < 0.5 < trial.share[2:].min()
    assert trial.accepted(threshold=0.5).tolist() == [2, 3, 4, 5, 6, 7]


def test_who_met_few_controls_is_neither_rejected_nor_accepted() -> None:
    trial = ControlScores(met=np.array([9, 10, 0]), passed=np.array([0, 5, 0]))
    assert trial.rejected().tolist() == []
    assert trial.rejected(threshold=0.6).tolist() == [1]
    assert trial.accepted(threshold=0.5).tolist() == [1]
    assert trial.accepted(threshold=0.0, fewest=0).tolist() == [0, 1]
    assert np.isnan(trial.share[2])


def test_agreement_grows_with_the_threshold_when_careless_judges_go() -> None:
    pairs = drawn(3000, segments=3, judges=8, careless=3)
    everybody, half = by_threshold(pairs, score_controls(pairs, pairs.judge >= 0), thresholds=[0.5])
    assert (everybody.threshold, everybody.judges, half.judges) == (None, 8, 5)
    assert everybody.agreement == inter_agreement(pairs)
    assert half.agreement == inter_agreement(pairs.select(pairs.judge >= 3))
    assert half.agreement.kappa > everybody.agreement.kappa + 0.1


def test_a_margin_below_zero_is_refused() -> None:
    with pytest.raises(ParameterError, match="margin: -1"):
        score_controls(drawn(3), np.ones(3, bool), margin=-1)
