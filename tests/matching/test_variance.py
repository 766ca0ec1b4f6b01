"""The paper's policy: who is least known meets who is close, and parallel judges are spread."""

from __future__ import annotations

from collections import Counter

import numpy as np

from streams.matching import Match, policy
from streams.models import Model, create


def rated(rows: list[tuple[float, float]]) -> Model:
    model = create("trueskill", {})
    model.grow(len(rows), 0, 0)
    for system, row in enumerate(rows):
        model.load_row("systems", system, row)
    return model


def choose(
    model: Model, count: int, *, candidates: list[int], pending: list[tuple[int, ...]] | None = None, seed: int = 0
) -> list[Match]:
    return policy("variance").choose(
        model, candidates=candidates, pending=pending or [], count=count, random=np.random.default_rng(seed)
    )


def test_the_system_of_largest_variance_comes_first() -> None:
    model = rated([(0.0, 0.1), (0.0, 0.9), (0.0, 0.2)])
    (match,) = choose(model, 1, candidates=[0, 1, 2])
    assert match.systems[0] == 1


def test_close_opponents_are_drawn_by_the_exponential_of_the_distance() -> None:
    model = rated([(0.0, 1.0), (0.5, 0.01), (2.0, 0.01)])
    drawn = Counter(choose(model, 1, candidates=[0, 1, 2], seed=seed)[0].systems[1] for seed in range(4000))
    expected = np.exp(-0.5) / (np.exp(-0.5) + np.exp(-2.0))
    assert abs(drawn[1] / 4000 - expected) < 0.03


def test_requests_that_are_out_send_the_next_judges_elsewhere() -> None:
    model = rated([(0.0, 1.0)] * 4)
    first = {match.systems[0] for match in choose(model, 4, candidates=[0, 1, 2, 3])}
    assert len(first) > 1
    (match,) = choose(model, 1, candidates=[0, 1, 2, 3], pending=[(0, 1), (0, 1)])
    assert match.systems[0] in {2, 3}


def test_only_candidates_meet() -> None:
    matches = choose(rated([(0.0, 1.0)] * 5), 20, candidates=[1, 4])
    assert {system for match in matches for system in match.systems} == {1, 4}


def test_the_same_randomness_gives_the_same_matches() -> None:
    model = rated([(0.1 * i, 1.0) for i in range(8)])
    assert choose(model, 10, candidates=list(range(8)), seed=3) == choose(model, 10, candidates=list(range(8)), seed=3)
