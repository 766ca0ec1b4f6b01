"""The benchmark that compares clusters with the official ones: its shares of pairs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchmarks.official_clusters import for_other_judges, pair_agreement
from tests.reports.boards import settled_board


def test_agreement_counts_the_pairs_that_are_separated_alike() -> None:
    rows = settled_board().rows  # three clusters, ranges 1, 2, 3
    merged = [replace(rows[0]), *(replace(row, cluster=2, rank_low=2, rank_high=3) for row in rows[1:])]
    assert pair_agreement(rows, rows) == (1.0, 1.0)
    assert pair_agreement(rows, merged) == pytest.approx((2 / 3, 2 / 3))


def test_the_clusters_of_other_judges_are_between_solid_lines() -> None:
    assert [row.cluster for row in for_other_judges(settled_board().rows)] == [1, 2, 2]
