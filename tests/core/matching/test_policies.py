"""What every policy keeps to, whichever it is."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from streams.core.matching import POLICIES, Match, find_policy
from streams.core.models import Model
from streams.errors import ParameterError
from tests.core.matching.models import rated

SPREAD = [(0.3 * i, 0.2 + 0.05 * i) for i in range(8)]


def choose(
    name: str,
    model: Model,
    count: int,
    *,
    candidates: list[int],
    pending: list[tuple[int, ...]] | None = None,
    seed: int = 0,
    ways: int = 2,
) -> list[Match]:
    random = np.random.default_rng(seed)
    return find_policy(name).choose(
        model, candidates=candidates, pending=pending or [], count=count, random=random, ways=ways
    )


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("ways", [2, 3, 5])
def test_a_match_is_of_as_many_different_candidates_as_asked(name: str, ways: int) -> None:
    candidates = [1, 2, 4, 5, 7]
    matches = choose(name, rated(SPREAD), 30, candidates=candidates, ways=ways)
    assert len(matches) == 30
    for match in matches:
        assert len(match.systems) == len(set(match.systems)) == ways
        assert set(match.systems) <= set(candidates)


@pytest.mark.parametrize("name", POLICIES)
def test_every_candidate_meets_when_fewer_than_asked_are_left(name: str) -> None:
    (match,) = choose(name, rated(SPREAD), 1, candidates=[2, 3, 6], ways=5)
    assert sorted(match.systems) == [2, 3, 6]


@pytest.mark.parametrize("name", POLICIES)
def test_the_same_randomness_gives_the_same_matches(name: str) -> None:
    first, again, other = (choose(name, rated(SPREAD), 12, candidates=list(range(8)), seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert [match.systems for match in first] != [match.systems for match in other]


@pytest.mark.parametrize("name", POLICIES)
def test_choosing_leaves_the_model_as_it_was(name: str) -> None:
    model = rated(SPREAD)
    choose(name, model, 5, candidates=list(range(8)), pending=[(0, 1)])
    assert [model.dump_row("systems", i) for i in range(8)] == SPREAD


@pytest.mark.parametrize("name", POLICIES)
def test_the_information_is_that_of_all_the_pairs_of_the_match(name: str) -> None:
    model = rated(SPREAD)
    (pair,) = choose(name, model, 1, candidates=list(range(8)))
    assert pair.information == model.information(*pair.systems)
    (three,) = choose(name, model, 1, candidates=list(range(8)), ways=3)
    a, b, c = three.systems
    expected = model.information(a, b) + model.information(a, c) + model.information(b, c)
    assert three.information == pytest.approx(expected)


@pytest.mark.parametrize("name", ["variance", "information"])
def test_requests_that_are_out_send_the_next_judges_elsewhere(name: str) -> None:
    model = rated([(0.0, 1.0)] * 6)
    everyone = list(range(6))
    asked = Counter(
        choose(name, model, 1, candidates=everyone, pending=[(0, 1)] * 6, seed=s)[0].systems[0] for s in range(60)
    )
    assert asked[0] + asked[1] < 0.5 * 60 / 3


@pytest.mark.parametrize("name", ["variance", "information"])
def test_matches_chosen_together_reach_every_system_before_one_is_asked_for_often(name: str) -> None:
    asked = Counter(
        system
        for match in choose(name, rated([(0.0, 1.0)] * 10), 30, candidates=list(range(10)))
        for system in match.systems
    )
    assert len(asked) == 10
    assert max(asked.values()) <= 12


@pytest.mark.parametrize("name", POLICIES)
def test_a_pending_match_with_a_withdrawn_system_is_no_obstacle(name: str) -> None:
    (match,) = choose(name, rated(SPREAD), 1, candidates=[0, 1], pending=[(0, 7), (6, 7), (1, 6, 7)])
    assert sorted(match.systems) == [0, 1]


def test_uniform_draws_every_pair_alike() -> None:
    drawn = Counter(
        frozenset(match.systems) for match in choose("uniform", rated(SPREAD), 6000, candidates=[0, 2, 5, 7])
    )
    assert len(drawn) == 6
    assert all(abs(times - 1000) < 5 * np.sqrt(1000) for times in drawn.values())


@pytest.mark.parametrize(("ways", "candidates"), [(1, [0, 1]), (2, [0])])
def test_a_match_of_one_is_refused(ways: int, candidates: list[int]) -> None:
    with pytest.raises(ParameterError, match="2 systems or more, not 1"):
        choose("uniform", rated(SPREAD), 1, candidates=candidates, ways=ways)


def test_a_wrong_policy_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(ParameterError, match="did you mean 'information'"):
        find_policy("informaton")
