"""What every policy keeps to, whichever it is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from streams.core.matching import POLICIES, Match, find_policy
from streams.core.models import Model, create
from streams.errors import ParameterError
from tests.core.matching.models import rated

if TYPE_CHECKING:
    from collections.abc import Sequence

SPREAD = [(0.3 * i, 0.2 + 0.05 * i) for i in range(8)]


def choose(
    name: str,
    model: Model,
    count: int,
    *,
    candidates: list[int],
    pending: Sequence[tuple[int, ...]] | None = None,
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


# -- with a required system --------------------------------------------------------------------------------


def against(rows: list[tuple[float, float]], *, required: int = 0) -> Model:
    """Return a model that compares systems of these means and variances with one of them."""
    model = create("grm", {})
    model.grow(len(rows), 1, 1)
    for system, row in enumerate(rows):
        model.load_row("systems", system, row)
    model.baseline = required
    return model


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("ways", [2, 3, 9])
def test_every_match_contains_the_required_system(name: str, ways: int) -> None:
    candidates = [1, 2, 4, 5, 7]
    matches = choose(name, against(SPREAD, required=4), 30, candidates=candidates, ways=ways)
    assert len(matches) == 30
    for match in matches:
        assert match.systems[-1] == 4
        assert len(match.systems) == len(set(match.systems)) == min(ways, 5)
        assert set(match.systems) <= set(candidates)
        assert match.information > 0


@pytest.mark.parametrize("name", POLICIES)
def test_without_the_required_system_there_is_no_match(name: str) -> None:
    assert choose(name, against(SPREAD, required=4), 3, candidates=[1, 2, 3]) == []


def test_uniform_draws_every_opponent_of_the_required_system_alike() -> None:
    matches = choose("uniform", against(SPREAD, required=2), 3000, candidates=[0, 2, 5, 7])
    drawn = Counter(match.systems for match in matches)
    assert len(drawn) == 3
    assert all(abs(times - 1000) < 5 * np.sqrt(1000) for times in drawn.values())


@pytest.mark.parametrize("name", ["variance", "information"])
def test_the_least_known_of_equals_meets_the_required_system(name: str) -> None:
    model = against([(0.0, 2.0), (0.3, 0.2), (0.3, 1.2), (0.3, 0.2)])
    first = Counter(choose(name, model, 1, candidates=[0, 1, 2, 3], seed=seed)[0].systems[0] for seed in range(40))
    assert first[2] >= 36


def test_information_prefers_a_system_whose_place_is_open_to_one_that_stands_alone() -> None:
    model = against([(0.0, 2.0), (0.8, 0.1), (0.85, 0.1), (-1.5, 0.1)])
    asked = Counter(choose("information", model, 1, candidates=[0, 1, 2, 3], seed=s)[0].systems[0] for s in range(60))
    assert asked[1] + asked[2] >= 54


@pytest.mark.parametrize("name", ["variance", "information"])
def test_pending_matches_with_the_required_system_spread_the_judges(name: str) -> None:
    model = against([(0.0, 2.0)] * 7)
    asked = Counter(match.systems[0] for match in choose(name, model, 12, candidates=list(range(7))))
    assert len(asked) == 6
    assert max(asked.values()) <= 3
    pending = [(k, 0) for k in (1, 2, 3, 4, 5)] * 3
    (match,) = choose(name, model, 1, candidates=list(range(7)), pending=pending)
    assert match.systems == (6, 0)


@pytest.mark.parametrize("seed", range(12))
def test_information_asks_for_the_system_whose_next_judgment_clarifies_the_order_most(seed: int) -> None:
    """The judgment is expected to reduce the variance s by s (1 - 4^-bits); the slopes are those of the blur."""
    random = np.random.default_rng(seed)
    rows = [(0.0, 2.0), *zip(random.normal(0, 2, 7).tolist(), random.uniform(0.1, 0.4, 7).tolist(), strict=True)]
    model = against(rows)
    rows[0] = (0.0, 0.0)  # a baseline is known
    worth = [0.0]
    for a in range(1, 8):
        slopes = 0.0
        for b in set(range(8)) - {a}:
            together = rows[a][1] + rows[b][1]
            z = abs(rows[a][0] - rows[b][0]) / together**0.5
            slopes += (1 + z) / (1 + z * z) ** 2 / together
        worth.append(rows[a][1] * (1 - 4 ** -model.information(a, 0)) * slopes)
    for other in range(3):
        matches = choose("information", model, 1, candidates=list(range(8)), seed=other)
        assert matches[0].systems == (int(np.argmax(worth)), 0)


def test_of_two_that_are_about_as_hard_to_place_the_one_near_the_baseline_is_asked_for() -> None:
    """A system far from the baseline nearly always wins or loses against it, so a judgment of it tells less."""
    model = against([(0.0, 2.0), (4.0, 0.24), (4.1, 0.24), (-2.0, 0.2), (-2.1, 0.2)])
    asked = [choose("information", model, 1, candidates=list(range(5)), seed=seed)[0].systems[0] for seed in range(5)]
    assert set(asked) <= {3, 4}
