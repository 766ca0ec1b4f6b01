"""The default policy: the pair whose next judgment clarifies the order most, whichever way the kernels run."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from streams.core.matching import Match, Meetings, find_policy
from tests.core.matching.counts import meetings_of
from tests.core.matching.models import rated


def choose(
    meetings: Meetings,
    count: int,
    *,
    seed: int = 0,
    ways: int = 2,
    candidates: list[int] | None = None,
    pending: list[tuple[int, ...]] | None = None,
) -> list[Match]:
    size = len(meetings.wins)
    return find_policy("information").choose(
        rated([(0.0, 1.0)] * size),
        candidates=list(range(size)) if candidates is None else candidates,
        pending=pending or [],
        count=count,
        random=np.random.default_rng(seed),
        ways=ways,
        meetings=meetings,
    )


def drawn(meetings: Meetings, *, count: int = 20, ways: int = 2) -> Counter[frozenset[int]]:
    """Count the sets that are chosen by as many seeds, without those by chance."""
    chosen = (choose(meetings, 1, seed=seed, ways=ways)[0] for seed in range(count))
    return Counter(frozenset(match.systems) for match in chosen if "chance" not in match.why)


def test_systems_that_may_change_places_are_compared_and_not_one_that_stands_apart() -> None:
    chosen = drawn(meetings_of([0.0, 0.1, 0.2, 3.0], times=30))
    assert all(3 not in pair for pair in chosen)


def test_of_equally_close_systems_the_least_known_is_asked_for() -> None:
    meetings = meetings_of([0.0, 0.0, 0.0, 0.0], times=40)
    for counts in meetings:
        counts[3, :] //= 10
        counts[:, 3] //= 10
    assert all(3 in pair for pair in drawn(meetings))


def test_no_pair_is_asked_for_twice_while_fewer_than_half_are_outstanding() -> None:
    meetings = meetings_of([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], times=10)
    pending: list[tuple[int, ...]] = [(1, 0), (2, 3)]
    matches = choose(meetings, 12, pending=pending)
    assert len({frozenset(match.systems) for match in matches} | {frozenset(pair) for pair in pending}) == 14


def test_many_outstanding_requests_are_not_all_for_one_pair() -> None:
    matches = choose(meetings_of([0.0, 0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], times=50), 28)
    times = Counter(frozenset(match.systems) for match in matches)
    assert max(times.values()) == times[frozenset({0, 1})] == 2


def test_requests_without_an_answer_count_as_answered() -> None:
    """Six requests of 0 and 1 are out: others are less known, also where they met as often so far."""
    meetings = meetings_of([0.0] * 6, times=2)
    chosen = [choose(meetings, 1, seed=seed, pending=[(0, 1)] * 12)[0] for seed in range(20)]
    assert all(set(match.systems).isdisjoint({0, 1}) for match in chosen if "chance" not in match.why)


def test_one_request_in_ten_is_for_any_pair() -> None:
    meetings = meetings_of([0.0, 0.1, 0.2, 0.3, 4.0, 8.0, 12.0], times=50)
    by_chance = Counter(frozenset(match.systems) for match in choose(meetings, 1500) if "chance" in match.why)
    assert abs(by_chance.total() - 150) < 4 * np.sqrt(150)
    assert len(by_chance) > 15


@pytest.mark.parametrize("ways", [3, 4])
def test_a_larger_match_contains_the_best_pair_and_grows_from_it(ways: int) -> None:
    meetings = meetings_of([0.0, 5.0, 0.1, 9.0, 0.2], times=30)
    for seed in range(12):
        (pair,), (more,) = choose(meetings, 1, seed=seed), choose(meetings, 1, seed=seed, ways=ways)
        assert set(pair.systems) < set(more.systems)
        assert len(more.systems) == ways
        if "chance" not in more.why:
            assert {0, 2, 4} <= set(more.systems)


def test_a_system_that_is_no_candidate_is_not_asked_for_but_its_outcomes_count() -> None:
    """Systems 0 and 1 have met only system 2, which is withdrawn. System 1 won more often."""
    wins, ties = np.zeros((2, 4, 4), np.int64)
    wins[0, 2] = wins[2, 0] = 200
    wins[1, 2], wins[2, 1] = 240, 160
    wins[1, 3] = wins[3, 1] = wins[0, 3] = wins[3, 0] = 2
    matches = choose(Meetings(wins, ties), 40, candidates=[0, 1, 3])
    assert all(2 not in match.systems for match in matches)
    first = Counter(
        frozenset(choose(Meetings(wins, ties), 1, candidates=[0, 1, 3], seed=s)[0].systems) for s in range(40)
    )
    assert sum(times for pair, times in first.items() if 3 in pair) > 30
