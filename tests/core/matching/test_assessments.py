"""Which system is scored next, by each policy, and on which segment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from streams.core.matching import POLICIES, choose_systems
from streams.core.matching.assessments import RULES
from streams.core.models import create

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.models import Model


def scored(*systems: Sequence[float]) -> Model:
    """Return a raw model whose systems have these scores, each on a segment of its own."""
    model = create("assessment", {"scale": "raw"})
    model.grow(len(systems), 1, max((len(scores) for scores in systems), default=0))
    for system, scores in enumerate(systems):
        for segment, score in enumerate(scores):
            model.load_cell((system, segment, 0), (1.0, score))
    return model


def chosen(policy: str, model: Model, *, count: int = 1, pending: Sequence[int] = (), seed: int = 1) -> list[int]:
    candidates = range(len(model.scores()[0]))
    random = np.random.default_rng(seed)
    matches = choose_systems(policy, model, candidates=candidates, pending=pending, count=count, random=random)
    assert all(0 < match.information < 10 for match in matches)
    return [system for match in matches for system in match.systems]


def test_every_policy_has_a_rule() -> None:
    assert RULES.keys() == POLICIES.keys()


@pytest.mark.parametrize("policy", ["variance", "information"])
def test_before_any_score_the_systems_take_turns(policy: str) -> None:
    assert chosen(policy, scored((), (), ()), count=6) == [0, 1, 2, 0, 1, 2]
    assert chosen(policy, scored((), (), ()), count=2, pending=[0, 2]) == [1, 0]


def test_uniform_chooses_any_system_by_chance() -> None:
    drawn = Counter(chosen("uniform", scored((), [50.0] * 9, [50.0] * 9), count=600))
    assert all(150 < drawn[system] < 250 for system in range(3))


def test_variance_chooses_the_widest_error_and_counts_what_is_outstanding() -> None:
    model = scored([50.0] * 9, [20.0, 80.0, 50.0, 50.0], [50.0] * 4)
    deviation = model.scores()[1]
    assert deviation.argmax() == 1
    assert chosen("variance", model) == [1]
    # One more segment multiplies the error of n segments by sqrt(n / (n + 1)).
    expected = 0
    while deviation[1] * np.sqrt(4 / (4 + expected)) > deviation[2]:
        expected += 1
    assert chosen("variance", model, pending=[1] * (expected - 1)) == [1]
    assert chosen("variance", model, pending=[1] * expected) == [2]


def test_information_prefers_neighbours_to_a_system_that_stands_alone() -> None:
    close, alone = [40.0, 60.0] * 5, [0.0, 20.0] * 5
    assert set(chosen("information", scored(close, [41.0, 61.0] * 5, alone), count=6)) == {0, 1}


def test_information_minimises_the_expected_errors_of_the_order() -> None:
    """The choice is one of the best two by the criterion itself: the expected number of pairs in the wrong order."""
    random = np.random.default_rng(3)
    agreed = 0
    for _ in range(40):
        sizes = random.integers(3, 30, 5)
        model = scored(*[(random.normal(50, 8) + random.normal(0, 20, size)).tolist() for size in sizes])
        mean, deviation = model.scores()
        after = []
        for system in range(5):
            variance = deviation**2
            variance[system] *= 4.0 ** -model.score_information(system)
            gaps = np.abs(mean[:, None] - mean) / np.sqrt(variance[:, None] + variance)
            after.append(stats.norm.sf(gaps).sum())
        best_two = np.argsort(after)[:2]
        agreed += chosen("information", model)[0] in best_two
    assert agreed >= 30


def test_among_equals_the_system_with_the_fewest_scores_is_chosen() -> None:
    model = scored([50.0] * 3, [50.0] * 3)
    alone = choose_systems("information", model, candidates=[1], pending=[], count=1, random=np.random.default_rng(1))
    assert alone[0].systems == (1,)
    for policy in ("variance", "information"):
        assert chosen(policy, model, pending=[0]) == [1]


def test_a_pending_request_of_a_withdrawn_system_changes_nothing() -> None:
    model, random = scored((), (), ()), np.random.default_rng(1)
    matches = choose_systems("variance", model, candidates=[1, 2], pending=[0, 0], count=2, random=random)
    assert [match.systems for match in matches] == [(1,), (2,)]


def test_the_information_of_a_score_is_how_far_the_error_narrows() -> None:
    """The next score is one standard deviation off: the sum of squares then grows by the variance so far."""
    model, spread = scored((), [50.0], [50.0] * 3), 100 / np.sqrt(12)
    before = model.scores()[1]
    for system, n in enumerate((0, 1, 3)):
        typical = 50.0 + spread * np.sqrt(n + 1) / max(n, 1) * (n > 0)
        after = scored([50.0] * n + [typical]).scores()[1][0]
        assert model.score_information(system) == pytest.approx(np.log2(before[system] / after))
    assert model.information(0, 2) == pytest.approx(model.score_information(0) + model.score_information(2))
    assert model.score_information(1, expected=2) == model.score_information(2)


def test_scores_are_counted_by_segment() -> None:
    model = create("assessment", {})
    model.grow(3, 2, 4)
    for cell, count in (((0, 2, 1), 2.0), ((0, 2, 0), 1.0), ((0, 0, 1), 1.0), ((2, 3, 0), 5.0)):
        model.load_cell(cell, (count, 10.0 * count, 0.0, 100.0 * count, 0.0))
    counts = [model.segment_counts(system, 5).tolist() for system in range(3)]
    assert counts == [[1, 0, 3, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 5, 0]]
