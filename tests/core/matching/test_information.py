"""Our policy: who blurs the order is judged, by everyone in turn, whichever way the kernels run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from streams.core import kernels
from streams.core.kernels import order
from streams.core.matching import find_policy
from tests.core.matching.models import rated

if TYPE_CHECKING:
    from streams.core.matching.base import Floats, Ints


def drawn(
    rows: list[tuple[float, float]], *, count: int = 400, ways: int = 2, met: Ints | None = None
) -> Counter[frozenset[int]]:
    """Count the sets that are chosen by as many seeds, nothing pending."""
    model = rated(rows)
    return Counter(
        frozenset(match.systems)
        for seed in range(count)
        for match in find_policy("information").choose(
            model,
            candidates=range(len(rows)),
            pending=[],
            count=1,
            random=np.random.default_rng(seed),
            ways=ways,
            met=met,
        )
    )


def shares(chosen: Counter[frozenset[int]], systems: int) -> list[float]:
    return [sum(times for pair, times in chosen.items() if k in pair) / chosen.total() for k in range(systems)]


def test_systems_that_may_change_places_are_judged_more_than_one_that_stands_apart() -> None:
    near_a, near_b, near_c, apart = shares(drawn([(0.0, 0.01), (0.1, 0.01), (0.2, 0.01), (3.0, 0.01)]), 4)
    assert min(near_a, near_b, near_c) > 1.5 * apart
    assert apart > 0.02


def test_of_equally_close_systems_the_least_known_is_judged_more() -> None:
    known, unknown, other = shares(drawn([(0.0, 0.01), (0.0, 0.05), (0.0, 0.01)]), 3)
    assert unknown > 1.2 * max(known, other)


def test_a_pair_that_has_met_often_makes_room_for_others() -> None:
    rows = [(0.0, 0.01), (0.05, 0.01), (0.1, 0.01), (1.0, 0.01)]
    assert frozenset({0, 1}) in drawn(rows)
    met = np.zeros((4, 4), np.int64)
    met[0, 1] = met[1, 0] = 50
    assert frozenset({0, 1}) not in drawn(rows, met=met)


def test_every_pair_is_asked_for_in_the_end_and_near_ones_more() -> None:
    model = rated([(0.2 * k, 0.02) for k in range(6)])
    met = np.zeros((6, 6), np.int64)
    random = np.random.default_rng(0)
    for _ in range(300):
        (match,) = find_policy("information").choose(
            model, candidates=range(6), pending=[], count=1, random=random, met=met
        )
        a, b = match.systems
        met[a, b] += 1
        met[b, a] += 1
    assert met[np.triu_indices(6, 1)].min() > 2
    assert met[2, 3] > 2 * met[0, 5]


def test_meetings_still_out_count_as_meetings() -> None:
    rows = [(0.0, 0.01)] * 5
    matches = find_policy("information").choose(
        rated(rows),
        candidates=range(5),
        pending=[(1, 0), (2, 3)],
        count=8,
        random=np.random.default_rng(0),
        met=np.zeros((5, 5), np.int64),
    )
    assert len({frozenset(match.systems) for match in matches} | {frozenset({0, 1}), frozenset({2, 3})}) == 10


def test_a_match_of_three_is_of_those_that_may_change_places() -> None:
    chosen = drawn([(0.0, 0.01), (5.0, 0.01), (0.1, 0.01), (9.0, 0.01), (0.2, 0.01)], count=300, ways=3)
    assert chosen.most_common(1)[0][0] == frozenset({0, 2, 4})


def test_the_blur_follows_the_slope_of_the_misordered_pairs() -> None:
    """The oracle: the numeric derivative of sum Phi(-z) in the variance, the gap averaged over its posterior."""
    mean, variance = np.array([0.0, 0.12, 0.5, 0.55, 1.6]), np.array([0.02, 0.01, 0.03, 0.02, 0.02])
    gaps = stats.norm.ppf((np.arange(400) + 0.5) / 400)

    def misordered(changed: Floats) -> float:
        total = 0.0
        for a in range(5):
            for b in range(a + 1, 5):
                deviation = np.sqrt(variance[a] + variance[b])
                gap = np.abs(mean[a] - mean[b] + deviation * gaps)
                total += stats.norm.cdf(-gap / np.sqrt(changed[a] + changed[b])).mean()
        return total

    slopes = [misordered(variance + 1e-4 * step) - misordered(variance - 1e-4 * step) for step in np.eye(5)]
    expected = np.array(slopes) * variance**2
    blurs = order.blur(order.distances(mean, variance), variance)
    assert np.argsort(blurs).tolist() == np.argsort(expected).tolist()


def test_the_blur_is_its_formula() -> None:
    random = np.random.default_rng(2)
    mean, variance = random.normal(size=6), random.random(6)
    blurs = []
    for a in range(6):
        total = 0.0
        for b in set(range(6)) - {a}:
            z = abs(mean[a] - mean[b]) / np.sqrt(variance[a] + variance[b])
            total += (1 + z) / (1 + z**2) ** 2 / (variance[a] + variance[b])
        blurs.append(variance[a] ** 2 * total)
    np.testing.assert_allclose(order.blur(order.distances(mean, variance), variance), blurs, rtol=1e-12)


def chosen_by(functions: Any, mean: Floats, variance: Floats, met: Floats, draws: Floats, ways: int) -> list[bytes]:
    squares = functions.distances(mean, variance)
    scores = functions.score_pairs(functions.blur(squares, variance), functions.wear(squares, met), draws)
    return [scores.tobytes(), functions.best_set(scores, ways).tobytes()]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 20), st.integers(2, 6))
def test_compiled_and_plain_kernels_give_the_same_bits(seed: int, systems: int, ways: int) -> None:
    random = np.random.default_rng(seed)
    mean, variance = random.normal(size=systems), random.random(systems) ** 4 + 1e-9
    met, draws = np.floor(random.random((systems, systems)) * 99), random.random((systems, systems))
    plain, compiled = (
        chosen_by(functions, mean, variance, met, draws, min(ways, systems))
        for functions in (kernels.plain("order"), kernels.compiled("order"))
    )
    assert plain == compiled


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**20])
def test_the_scale_of_the_scores_does_not_matter(scale: float) -> None:
    random = np.random.default_rng(1)
    mean, variance, draws = random.normal(size=9), random.random(9), random.random((9, 9))
    first, rescaled = (chosen_by(order, k * mean, k**2 * variance, np.zeros((9, 9)), draws, 3)[1] for k in (1.0, scale))
    assert first == rescaled


def test_the_best_set_is_the_best_pair_joined_by_the_one_that_fits_both() -> None:
    scores = np.triu(np.array([[0, 9, 2, 3, 1], [0, 0, 5, 1, 1], [0, 0, 0, 8, 1], [0, 0, 0, 0, 1], [0] * 5]), 1).astype(
        float
    )
    assert order.best_set(scores, 2).tolist() == [0, 1]
    assert order.best_set(scores, 3).tolist() == [0, 1, 2]  # 2 + 5 against 3 + 1
    assert order.best_set(scores, 4).tolist() == [0, 1, 2, 3]
