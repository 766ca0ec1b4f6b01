"""The numbers in the package, compared with the paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from streams.crowd import WMT13_FR_EN, Competition
from streams.errors import ParameterError

WMT13 = Competition.load(WMT13_FR_EN)
PAIRS = [(a, b) for a in range(13) for b in range(13) if a != b]
# As printed in the WMT13 findings: Table 25, and the French-English columns of Table 6.
TABLE_25, OFFICIAL_RESULTS = (
    [line.split("\t") for line in table.splitlines()]
    for table in Path(__file__).with_name("wmt13_findings.tsv").read_text().split("\n\n")
)


def rate(a: int, b: int) -> float:
    found = WMT13.win_rates[a][b]
    assert found is not None
    return found


def test_the_win_rates_are_the_papers_table_with_rows_and_columns_exchanged() -> None:
    (_, *names), *rows = TABLE_25
    assert tuple(names) == WMT13.systems == tuple(row[0] for row in rows)
    for a, b in PAIRS:
        printed = re.match(r"\.\d\d", rows[b][1 + a])  # the column's system is the winner, then come marks
        assert printed is not None
        assert rate(a, b) == float(printed[0])


def test_the_official_scores_ranges_and_clusters_are_the_papers() -> None:
    ranges = [
        str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}-{row.rank_high}"
        for row in WMT13.official
    ]
    assert [(float(score), ranks) for _, score, ranks, _ in OFFICIAL_RESULTS] == [
        (row.score, ranks) for row, ranks in zip(WMT13.official, ranges, strict=True)
    ]
    starts = [place for place, (number, *_) in enumerate(OFFICIAL_RESULTS) if number]  # of each cluster's first system
    assert starts == [place for place in range(13) if place == 0 or WMT13.clusters[place] > WMT13.clusters[place - 1]]


def test_the_best_system_beats_the_worst_and_not_the_other_way_round() -> None:
    assert rate(WMT13.systems.index("UEDIN-HEAFIELD"), WMT13.systems.index("SHEF-WPROA")) == 0.76


def test_no_system_meets_itself() -> None:
    assert [WMT13.win_rates[a][a] for a in range(13)] == [None] * 13
    with pytest.raises(ParameterError, match="has not met"):
        WMT13.outcome("KIT", "KIT")


def test_the_two_rates_of_a_pair_add_up_to_one_within_rounding() -> None:
    assert all(abs(rate(a, b) + rate(b, a) - 1) < 0.0101 for a, b in PAIRS)


def test_a_systems_mean_win_rate_is_its_official_score_within_rounding() -> None:
    for a, row in enumerate(WMT13.official):
        assert sum(rate(a, b) for b in range(13) if b != a) / 12 == pytest.approx(row.score, abs=0.01)


def test_the_official_clusters_are_numbered_by_the_rule() -> None:
    assert WMT13.clusters == (1, 2, 2, 3, 3, 3, 4, 5, 6, 6, 6, 7, 8)


def test_the_outcomes_of_a_pair_are_probabilities_and_mirror_each_other() -> None:
    for a, b in PAIRS:
        there = WMT13.outcome(WMT13.systems[a], WMT13.systems[b])
        back = WMT13.outcome(WMT13.systems[b], WMT13.systems[a])
        assert sum(there) == pytest.approx(1)
        assert (there.win, there.loss) == pytest.approx((back.loss, back.win))
        assert there.tie == 19219 / 99960


def test_an_unknown_system_is_named_with_the_one_that_was_probably_meant() -> None:
    with pytest.raises(ParameterError, match="no system 'UEDIM'; did you mean 'UEDIN'"):
        WMT13.outcome("UEDIM", "KIT")
