"""The kernels of the settled board: the same bits plain and compiled, and the sums that numpy computes."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from streams.core import kernels

SIZE = 9


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs in order, and outcomes that are weighted, so that their sums are rounded."""
    random = np.random.default_rng(seed)
    first, second = np.triu_indices(SIZE, 1)
    chosen = np.flatnonzero(random.random(len(first)) < 0.7)
    outcomes = random.integers(0, 40, (len(chosen), 3)) * random.random((len(chosen), 3))
    return first[chosen], second[chosen], outcomes


@pytest.fixture(params=["plain", "compiled"])
def kernel(request: pytest.FixtureRequest) -> Any:
    return getattr(kernels, request.param)("settled")


@pytest.mark.parametrize("seed", range(5))
def test_wins_and_losses_are_added_up_in_the_order_of_the_pairs(kernel: Any, seed: int) -> None:
    first, second, outcomes = drawn(seed)
    found = np.zeros((4, SIZE))
    kernel.add_decided(first, second, outcomes, found)
    won, lost = outcomes[:, 0], outcomes[:, 2]
    columns = ((first, won), (second, lost), (first, lost), (second, won))
    np.testing.assert_array_equal(found, [np.bincount(place, each, SIZE) for place, each in columns])


@pytest.mark.parametrize("seed", range(5))
def test_a_majority_is_significant_if_it_is_far_enough_above_half(kernel: Any, seed: int) -> None:
    first, second, outcomes = drawn(seed)
    majority = np.zeros((SIZE, SIZE))
    number = kernel.find_majorities(first, second, outcomes, 0.98, majority)
    expected = np.zeros((SIZE, SIZE))
    for a, b, (won, _, lost) in zip(first, second, outcomes, strict=True):
        half, needed = 0.5 * (won + lost), 0.98 * sqrt(won + lost)
        expected[a, b], expected[b, a] = won - half - 0.5 >= needed, lost - half - 0.5 >= needed
    assert 0 < number == expected.sum()
    np.testing.assert_array_equal(majority, expected)
