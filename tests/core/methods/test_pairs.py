"""Rankings taken apart into pairs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core.methods.pairs import Pairs
from streams.core.methods.registry import create_method
from streams.core.ranking import PairCounts
from streams.errors import ParameterError
from streams.formats import read
from streams.lab.measures.prediction import accuracy, accuracy_bound, perplexity
from streams.wire.events import Judgment
from tests.builders import judgment, judgments
from tests.core.methods.outcomes import drawn, scores_of
from tests.data import WMT13_SYSTEMS, real_log


@given(st.lists(judgments(), max_size=12))
def test_the_counts_are_those_of_the_rankings(log: list[Judgment]) -> None:
    pairs, expected = Pairs.of(log), PairCounts.of(log)
    wins, ties = pairs.counts()
    assert pairs.systems == expected.systems
    np.testing.assert_array_equal(wins, expected.wins)
    np.testing.assert_array_equal(ties, expected.ties)


@given(st.lists(judgments(), max_size=12))
def test_pairs_stand_in_the_order_of_the_log_with_judge_and_segment(log: list[Judgment]) -> None:
    pairs = Pairs.of(log)
    found = [
        (pairs.systems[a], pairs.systems[b], outcome - 1, pairs.judges[judge], pairs.segments[segment])
        for a, b, outcome, judge, segment in zip(
            pairs.a, pairs.b, pairs.outcome, pairs.judge, pairs.segment, strict=True
        )
    ]
    expected = [
        (one.systems[i], one.systems[j], np.sign(ranks[i] - ranks[j]), one.judge, one.segment)
        for one in log
        for ranks in [one.ranks or ()]
        for i in range(len(ranks))
        for j in range(i + 1, len(ranks))
    ]
    assert found == expected


def test_a_direct_assessment_is_no_pair() -> None:
    assert len(Pairs.of([judgment(1, systems=("a",), ranks=None, score=50.0)])) == 0


def test_a_pair_taken_keeps_its_names() -> None:
    pairs = drawn(20)
    some = pairs.select(np.array([3, 1]))
    assert some.a.tolist() == [pairs.a[3], pairs.a[1]]
    assert some.systems == pairs.systems


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("outcome", 3, "outcome: 0 to 3, but it must be from 0 to 2"),
        ("a", -1, "a: -1 to"),
        ("judge", 8, "judge: 0 to 8"),
        ("segment", 60, "segment"),
    ],
)
def test_an_index_without_a_name_is_refused(column: str, value: int, said: str) -> None:
    pairs = drawn(200)
    wrong = getattr(pairs, column).copy()
    wrong[5] = value
    with pytest.raises(ParameterError, match=said):
        replace(pairs, **{column: wrong})


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ParameterError, match="judge has shape"):
        replace(drawn(3), judge=np.zeros(2, np.int64))


def test_a_system_is_not_compared_with_itself() -> None:
    pairs = drawn(5)
    with pytest.raises(ParameterError, match="row 0"):
        replace(pairs, a=pairs.b)


@cache
def wmt13() -> Pairs:
    return Pairs.of(entry.judgment for entry in read(real_log("wmt13_fr-en_rank.csv.gz")))


@pytest.mark.data
def test_expected_wins_of_the_whole_log_are_in_the_official_order() -> None:
    scores = scores_of(create_method("expected-wins").fit(wmt13()))
    best = np.argsort(-scores)
    assert tuple(wmt13().systems[i] for i in best) == WMT13_SYSTEMS


@pytest.mark.data
@pytest.mark.parametrize("name", ["hopkins-may", "bradley-terry-ties", "trueskill", "two-stage"])
def test_on_a_real_log_abilities_predict_better_than_pairs_on_their_own(name: str) -> None:
    order = np.random.default_rng(0).permutation(len(wmt13()))
    test, training = wmt13().select(order[:2000]), wmt13().select(order[2000:2800])
    fitted, plain = create_method(name).fit(training), create_method("independent-pairs").fit(training)
    held = fitted.probabilities(test)
    assert perplexity(held, test.outcome) < perplexity(plain.probabilities(test), test.outcome) < 3.0
    assert 0.46 < accuracy(held, test.outcome) < accuracy_bound(test)
