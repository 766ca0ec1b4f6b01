"""The compiled loop that picks matches, against plain numpy, and plain against compiled."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core import kernels

if TYPE_CHECKING:
    from streams.core.matching.base import Flags, Floats, Ints

JITTER, CHANCE = 0.05, 0.3


def draw_field(seed: int, size: int, count: int) -> tuple[Floats, Flags, Ints, Floats]:
    """Return gains, candidates, requests without an answer, and random draws."""
    random = np.random.default_rng(seed)
    gains = random.random((size, size)).round(1)  # some are equal
    candidates = random.random(size) < 0.8
    candidates[:3] = True
    asked = random.integers(3, size=(size, size)) * (random.random((size, size)) < 0.3)
    gains, asked = gains + gains.T, asked + asked.T
    is_pair = np.outer(candidates, candidates) & ~np.eye(size, dtype=np.bool_)
    gains, asked = gains * is_pair, asked * is_pair
    return gains, candidates, asked, random.random(size * (size - 1) // 2 + 2 * count)


def pick(kernel: str, seed: int, size: int, count: int, ways: int) -> tuple[list[list[int]], list[bool], list[int]]:
    gains, candidates, asked, draws = draw_field(seed, size, count)
    picked, by_chance = np.empty((count, ways), np.int64), np.empty(count, np.bool_)
    run = getattr(kernels, kernel)("picks").pick_matches
    run(gains, candidates, asked, draws, JITTER, CHANCE, picked, by_chance)
    return picked.tolist(), by_chance.tolist(), asked.ravel().tolist()


def pick_by_numpy(seed: int, size: int, count: int, ways: int) -> tuple[list[list[int]], list[bool], list[int]]:
    """Return what the rule says, written down in another way: a matrix of the pairs that are free."""
    gains, candidates, asked, draws = draw_field(seed, size, count)
    upper = np.triu_indices(size, 1)
    jitter = np.zeros((size, size))
    jitter[upper] = JITTER * draws[: len(upper[0])]
    gains *= 1.0 - (jitter + jitter.T)
    left = iter(draws[len(upper[0]) :])
    pairs = int(candidates.sum()) * (int(candidates.sum()) - 1)
    is_pair = np.triu(np.outer(candidates, candidates), 1)
    limit, picked, by_chance = 0, [], []
    for _ in range(count):
        limit = max(limit, 1 + 2 * int(asked.sum()) // pairs)
        while not (is_pair & (asked < limit)).any():
            limit += 1
        free = np.where(is_pair & (asked < limit), gains, -1.0)
        is_any, place = next(left) < CHANCE, next(left)
        places = np.flatnonzero(free >= 0.0)
        match = list(divmod(int(places[int(place * len(places))] if is_any else np.argmax(free)), size))
        while len(match) < ways:
            total = np.where(candidates, gains[match].sum(axis=0), -1.0)
            total[match] = -1.0
            match.append(int(np.argmax(total)))
        for a, b in combinations(match, 2):
            asked[a, b] += 1
            asked[b, a] += 1
        picked.append(match)
        by_chance.append(bool(is_any))
    return picked, by_chance, asked.ravel().tolist()


@given(seed=st.integers(0, 10**6), size=st.integers(3, 9), count=st.integers(0, 30))
def test_the_best_free_pairs_are_picked(seed: int, size: int, count: int) -> None:
    assert pick("compiled", seed, size, count, 2) == pick_by_numpy(seed, size, count, 2)


@pytest.mark.parametrize("ways", [2, 3])
def test_plain_and_compiled_kernels_pick_the_same(ways: int) -> None:
    for seed in range(10):
        found = pick("plain", seed, 7, 12, ways)
        assert found == pick("compiled", seed, 7, 12, ways) == pick_by_numpy(seed, 7, 12, ways)
