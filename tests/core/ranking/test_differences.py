"""Ranges of ranks from tests of differences: their confidence depends on how many pairs differ."""

from __future__ import annotations

import numpy as np
import pytest

from streams.core.ranking.differences import Differences, likely_ranks

KNOWN = 1.0 / np.sqrt(2.0)  # deviation of scores whose differences have the deviation 1
# Two-sided quantiles of the normal distribution.
AT_80, AT_95 = 1.2816, 1.9600


def ranks(*score: float) -> list[tuple[int, int]]:
    """Return the ranges of scores whose differences have the deviation 1."""
    best, worst = likely_ranks(np.array(score), Differences.independent(np.full(len(score), KNOWN)))
    return list(zip(best.tolist(), worst.tolist(), strict=True))


@pytest.mark.parametrize(
    ("others", "quantile"),
    [
        ([], AT_95),
        ([200.0, 100.0], AT_95),  # four systems have 6 pairs, and 0.4 * 4² is 6.4
        ([300.0] * 3 + [200.0] * 2 + [100.0] * 2, AT_95),  # at most 31 pairs of nine differ, and 0.4 * 9² is 32.4
        ([400.0] * 2 + [300.0] * 2 + [200.0] * 2 + [100.0] * 2, AT_80),  # 40 pairs of ten differ, and 0.4 * 10² is 40
        ([500.0, 400.0, 300.0, 200.0, 100.0], AT_80),
    ],
)
def test_tests_behind_ranges_need_less_confidence_where_most_pairs_differ(others: list[float], quantile: float) -> None:
    place = len(others) + 1
    assert ranks(*others, quantile - 0.001, 0.0)[-2:] == [(place, place + 1)] * 2
    assert ranks(*others, quantile + 0.001, 0.0)[-2:] == [(place, place), (place + 1, place + 1)]


def test_among_equal_systems_a_chance_difference_is_not_claimed() -> None:
    assert set(ranks(1.9, *[0.95] * 8, 0.0)) == {(1, 10)}


def test_what_one_kind_of_differences_does_not_allow_is_not_claimed() -> None:
    score = np.array([3.0, 0.0])
    sure, unsure = (Differences.independent(np.full(2, deviation)) for deviation in (0.1, 9.0))
    assert [each.tolist() for each in likely_ranks(score, sure)] == [[1, 2], [1, 2]]
    assert [each.tolist() for each in likely_ranks(score, sure, unsure)] == [[1, 1], [2, 2]]


def test_no_systems_have_no_ranks() -> None:
    assert ranks() == []
    assert ranks(0.0) == [(1, 1)]
