"""The settled board: its rows, its two kinds of ranges, and the edges at which it must claim nothing."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from streams.core.ranking.grouped_counts import GroupedCounts
from streams.core.ranking.settled import settle
from streams.core.ranking.student import student_quantile
from streams.wire.events import EPOCH, Judgment, Row
from tests.core.ranking.grouped import counted, drawn


def ranges(rows: tuple[Row, ...]) -> dict[str, tuple[int, int]]:
    return {row.system: (row.rank_low, row.rank_high) for row in rows}


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_t_quantiles_are_those_of_scipy(confidence: float) -> None:
    for freedom in range(1, 64):
        expected = stats.t.ppf(0.5 + confidence / 2, freedom)
        assert student_quantile(freedom, confidence) == pytest.approx(expected, rel=1e-11)


def test_wins_are_ranked_with_lines_that_hold_for_other_judges() -> None:
    pairs = {("a", "b"): (90, 10, 10), ("b", "c"): (90, 10, 10), ("a", "c"): (110, 5, 2)}
    rows = settle(counted(pairs)).rows()
    assert [(row.system, row.rank, row.rank_low, row.rank_high, row.cluster) for row in rows] == [
        ("a", 1, 1, 1, 1),
        ("b", 2, 2, 2, 2),
        ("c", 3, 3, 3, 3),
    ]
    assert [row.line_above for row in rows] == [None, "judges", "judges"]
    assert [(row.judge_rank_low, row.judge_rank_high) for row in rows] == [(1, 1), (2, 2), (3, 3)]
    assert sum(row.score for row in rows) == pytest.approx(0.0, abs=1e-12)


def test_a_line_by_judges_who_disagree_does_not_hold_for_others() -> None:
    counts = counted({("a", "b"): (660, 0, 540)}, judges=12)
    by_judge = np.zeros_like(counts.by_judge)
    by_judge[0, :12, 0] = [100] * 6 + [10] * 6  # each judge is sure, but they are split
    by_judge[0, :12, 2] = [0] * 6 + [90] * 6
    split = GroupedCounts(
        systems=counts.systems,
        first=counts.first,
        second=counts.second,
        by_judgment=counts.by_judgment,
        by_judge=by_judge,
        judgments=counts.judgments,
        rankings=counts.rankings,
        judges=12,
    )
    rows = settle(split).rows()
    assert [row.line_above for row in rows] == [None, "judgments"]
    assert [(row.judge_rank_low, row.judge_rank_high) for row in rows] == [(1, 2), (1, 2)]
    assert rows[0].rank_high == 1


def test_what_does_not_hold_for_the_same_judges_is_not_claimed_for_others() -> None:
    counts = counted({("a", "b"): (660, 0, 540)}, judges=12)
    counts.by_judgment[0] = 0
    counts.by_judgment[0, :12, 0] = [100] * 6 + [10] * 6
    counts.by_judgment[0, :12, 2] = [0] * 6 + [90] * 6
    rows = settle(counts).rows()
    assert [(row.rank_low, row.rank_high) for row in rows] == [(1, 2), (1, 2)]
    assert [(row.judge_rank_low, row.judge_rank_high) for row in rows] == [(1, 2), (1, 2)]


@pytest.mark.parametrize("judges", [0, 1, 4])
def test_below_five_judges_nothing_is_said_about_others(judges: int) -> None:
    rows = settle(counted({("a", "b"): (90, 10, 10)}, judges=max(judges, 1))).rows()
    assert [(row.judge_rank_low, row.judge_rank_high) for row in rows] == [(None, None)] * 2
    assert [row.line_above for row in rows] == [None, "judgments"]


@pytest.mark.parametrize("ties", [0, 3, 40, 400])
def test_two_systems_are_parted_only_if_a_binomial_test_would(ties: int) -> None:
    for won, lost in product(range(26), range(6)):
        if won <= lost:
            continue
        better = settle(counted({("a", "b"): (won, ties, lost)})).rows()
        if better[0].rank_high == 1:
            assert stats.binomtest(won, won + lost).pvalue <= 0.05, (won, ties, lost)


def test_neighbours_on_a_clear_board_may_have_a_rank_each_without_a_line() -> None:
    far = dict.fromkeys(combinations("abcdef", 2), (180, 10, 10))
    rows = settle(counted(far | {("e", "f"): (70, 0, 35)})).rows()
    assert ranges(rows) == {name: (place, place) for place, name in enumerate("abcdef", start=1)}
    assert [row.line_above for row in rows] == [None, *["judges"] * 4, None]


@pytest.mark.parametrize("seed", range(12))
def test_no_range_crosses_a_line_and_others_have_the_wider_range(seed: int) -> None:
    rows = settle(drawn(9, 300 * (seed + 2), seed=seed, spread=1.0)).rows()
    assert any(row.line_above for row in rows)
    for place, row in enumerate(rows):
        assert row.judge_rank_low is not None
        assert row.judge_rank_high is not None
        assert row.judge_rank_low <= row.rank_low <= row.rank <= row.rank_high <= row.judge_rank_high
        if row.line_above is not None:
            assert all(above.rank_high <= place for above in rows[:place])
            assert all(below.rank_low > place for below in rows[place:])
        if row.line_above == "judges":
            assert all((above.judge_rank_high or 0) <= place for above in rows[:place])
            assert all((below.judge_rank_low or 0) > place for below in rows[place:])


@pytest.mark.parametrize("known", [0, 8])
def test_four_wins_of_four_prove_nothing_on_any_board(known: int) -> None:
    far = {(f"k{i}", f"k{j}"): (400, 20, 4) for i in range(known) for j in range(i + 1, known)}
    link = {("k3", "x"): (0, 20, 0)} if far else {}
    rows = settle(counted(far | link | {("x", "y"): (4, 0, 0)})).rows()
    assert ranges(rows)["y"] == ranges(rows)["x"] == (1, known + 2)


def test_twenty_wins_of_twenty_prove_something() -> None:
    assert ranges(settle(counted({("a", "b"): (20, 0, 0)})).rows()) == {"a": (1, 1), "b": (2, 2)}


def test_a_system_that_beat_each_other_one_once_may_have_any_place_if_these_are_few() -> None:
    known = {(f"k{i}", f"k{j}"): (160, 20, 20) for i in range(5) for j in range(i + 1, 5)}
    few = settle(counted(known | {("new", f"k{i}"): (1, 0, 0) for i in range(5)})).rows()
    assert ranges(few)["new"] == (1, 6)
    many = settle(counted(known | {("new", f"k{i}"): (20, 0, 0) for i in range(5)})).rows()
    assert ranges(many)["new"] == (1, 1)


def test_two_that_never_lost_to_the_others_are_parted_by_their_own_matches_only() -> None:
    others = {(a, b): (40, 0, 0) for a in "ab" for b in "cde"} | {("c", "d"): (30, 5, 30), ("d", "e"): (30, 5, 30)}
    few = settle(counted(others | {("a", "b"): (4, 0, 0)})).rows()
    assert ranges(few)["a"] == ranges(few)["b"] == (1, 2)
    enough = settle(counted(others | {("a", "b"): (40, 0, 0)})).rows()
    assert ranges(enough)["a"] == (1, 1)


def test_a_ranking_of_many_systems_is_one_judgment() -> None:
    shown, ranks = tuple("abcdef"), (1, 2, 3, 4, 5, 6)
    log = [
        Judgment(id=f"{k}", campaign="c", segment="s", judge=f"j{k}", systems=shown, ranks=ranks, at=EPOCH)
        for k in range(5)
    ]
    rows = settle(GroupedCounts.of(log)).rows()
    assert set(ranges(rows).values()) == {(1, 6)}


def test_islands_are_ranked_apart_and_lonely_systems_share_the_last_one() -> None:
    board = settle(
        counted({("a", "b"): (50, 0, 5), ("c", "d"): (50, 0, 5), ("d", "e"): (50, 0, 5)}, more="vwxy")
    )  # fmt: skip
    rows = board.rows()
    assert [(row.system, row.island, row.rank, row.rank_low, row.rank_high) for row in rows] == [
        ("c", 1, 1, 1, 1),
        ("d", 1, 2, 2, 2),
        ("e", 1, 3, 3, 3),
        ("a", 2, 1, 1, 1),
        ("b", 2, 2, 2, 2),
        ("v", 3, 1, 1, 4),
        ("w", 3, 2, 1, 4),
        ("x", 3, 3, 1, 4),
        ("y", 3, 4, 1, 4),
    ]
    assert [row.line_above for row in rows] == [None, "judges", "judges", None, "judges", *[None] * 4]


def test_a_hidden_system_still_links_the_others() -> None:
    pairs = {("a", "m"): (50, 0, 5), ("m", "z"): (50, 0, 5)}
    board = settle(counted(pairs))
    rows = board.rows([0, 2])
    assert [(row.system, row.rank, row.rank_low, row.rank_high, row.island) for row in rows] == [
        ("a", 1, 1, 1, 1),
        ("z", 2, 2, 2, 1),
    ]


def test_without_judgments_all_are_equal() -> None:
    assert settle(counted({})).rows() == ()
    rows = settle(counted({}, more="ab")).rows()
    assert ranges(rows) == {"a": (1, 2), "b": (1, 2)}
    assert [row.score for row in rows] == [0.0, 0.0]


@pytest.mark.parametrize("judgments", [1, 2, 5])
def test_after_very_few_judgments_nothing_is_claimed(judgments: int) -> None:
    rows = settle(drawn(4, judgments)).rows()
    assert all(row.rank_low == 1 for row in rows)
    assert {row.cluster for row in rows} == {1}


def test_each_difference_uses_the_larger_variance() -> None:
    board = settle(drawn(8, 500))
    c = np.sqrt(2) * board.beta
    posterior = c * c * board.covariance[:-1, :-1]
    own = np.diag(posterior)
    least = own[:, None] + own[None, :] - 2 * posterior
    assert (board.by_judgment.variance >= least - 1e-12).all()
    assert (board.by_judgment.variance > least + 1e-6).any()
    assert (np.abs(board.by_judgment.variance - least) < 1e-12)[~np.eye(8, dtype=bool)].any()


def test_the_deviation_is_that_of_the_centred_score() -> None:
    many = settle(drawn(5, 4000))
    assert float(many.deviation.max()) < 0.1  # the common shift, which nothing measures, has one of 1.3


def test_the_order_of_the_log_does_not_matter() -> None:
    random = np.random.default_rng(1)
    log = []
    for k in range(120):
        shown = random.permutation(list("abcdef"))[: random.integers(2, 5)]
        log.append(
            Judgment(
                id=f"{k}",
                campaign="c",
                segment="s",
                judge=f"j{random.integers(9)}",
                systems=tuple(map(str, shown)),
                ranks=tuple(random.integers(1, 4, len(shown)).tolist()),
                at=EPOCH,
            )
        )
    rows = settle(GroupedCounts.of(log)).rows()
    assert rows == settle(GroupedCounts.of(log[::-1])).rows()
    assert rows == settle(GroupedCounts.of([log[k] for k in random.permutation(120)])).rows()


def test_early_and_late_votes_weigh_the_same() -> None:
    assert settle(counted({("x", "y"): (200, 0, 60)})).rows()[0].system == "x"


def test_a_large_noise_does_not_make_the_prior_strong() -> None:
    pairs = {("a", "b"): (80, 10, 10), ("b", "c"): (80, 10, 10)}
    usual, wide = settle(counted(pairs)), settle(counted(pairs), beta=111.8, deviation=0.5)
    np.testing.assert_allclose(wide.score, 100.0 * usual.score, rtol=1e-9)
    assert ranges(wide.rows()) == ranges(usual.rows())


def test_elo_points_follow_the_odds_of_close_systems() -> None:
    board = settle(counted({("a", "b"): (520, 100, 480)}))
    points = (board.score[0] - board.score[1]) * board.elo_per_score
    assert points == pytest.approx(400 * np.log10(520 / 480), rel=0.02)


@pytest.mark.parametrize(("beta", "deviation"), [(1.118, 1.0), (1e-3, 1e6), (1e6, 1e-3)])
def test_a_billion_judgments_in_one_group_claim_nothing(beta: float, deviation: float) -> None:
    counts = counted({("a", "b"): (6, 2, 2), ("b", "c"): (6, 2, 2)})
    for groups in (counts.by_judgment, counts.by_judge):
        groups[:] = 0
        groups[:, 3] = [6 * 10**8, 2 * 10**8, 2 * 10**8]
    board = settle(counts, beta=beta, deviation=deviation)
    assert np.isfinite([board.score, board.deviation]).all()
    assert set(ranges(board.rows()).values()) == {(1, 3)}
