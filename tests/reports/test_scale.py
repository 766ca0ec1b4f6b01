"""The Elo scale: its origin, its factor, and clear errors."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from streams.errors import ParameterError
from streams.reports.scale import check_scale, on_scale
from streams.reports.score_axis import ScoreAxis, ScoreText
from tests.reports.boards import settled_board


def test_the_mean_of_each_island_has_1000_points() -> None:
    board = on_scale(settled_board(islands=True), "elo")
    assert [row.score for row in board.rows] == pytest.approx([1100, 1000, 900, 1050, 950])
    assert [row.deviation for row in board.rows] == pytest.approx([20.0] * 5)
    assert (board.scale, board.margin) == ("elo", 50.0)


def test_an_anchor_has_1000_points_and_its_island_follows() -> None:
    board = on_scale(settled_board(islands=True), "elo", anchor="cedar")
    assert [row.score for row in board.rows] == pytest.approx([1200, 1100, 1000, 1050, 950])


def test_400_points_are_a_factor_of_ten_in_the_odds() -> None:
    """Of two close systems: the slope of the log odds of a win, ties left out, from the model itself."""
    from math import log10, sqrt
    from statistics import NormalDist

    from streams.core.ranking.grouped_counts import GroupedCounts
    from streams.core.ranking.settled import settle
    from tests.builders import judgment

    log = [judgment(k, systems=("a", "b"), ranks=((1, 2), (2, 1), (1, 1))[k % 3]) for k in range(30)]
    fitted = settle(GroupedCounts.of(log))
    gap, c = 1e-4, sqrt(2.0) * fitted.beta
    win, loss = (NormalDist().cdf((sign * gap - fitted.margin) / c) for sign in (1.0, -1.0))
    assert fitted.elo_per_score * gap == pytest.approx(400.0 * log10(win / loss), rel=1e-4)


def test_ranks_do_not_depend_on_the_scale() -> None:
    before, after = settled_board(), on_scale(settled_board(), "elo")
    assert [replace(row, score=0.0, deviation=0.0) for row in before.rows] == [
        replace(row, score=0.0, deviation=0.0) for row in after.rows
    ]
    assert on_scale(before, "score") is before


def test_elo_points_are_whole_numbers_without_a_sign() -> None:
    board = on_scale(settled_board(), "elo")
    form, axis = ScoreText.of(board), ScoreAxis.of(board)
    assert (form.heading, form.score(board.rows[0]), form.deviation(board.rows[0])) == ("elo", "1100", "20")
    assert (axis.label(axis.low), axis.label(axis.origin), axis.label(axis.high)) == ("860", "1000", "1140")


@pytest.mark.parametrize(
    ("anchor", "per_score", "words"),
    [
        ("brich", 200.0, r"the anchor 'brich' is no system of the campaign 'c'; did you mean 'birch'\?"),
        (None, None, "the model 'trueskill' has no Elo scale"),
    ],
)
def test_a_board_that_has_no_such_scale_is_an_error(anchor: str | None, per_score: float | None, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        on_scale(settled_board(elo_per_score=per_score), "elo", anchor=anchor)


@pytest.mark.parametrize(
    ("scale", "anchor", "words"),
    [("ello", None, r"no scale 'ello'; did you mean 'elo'\?"), ("score", "ash", "the anchor 'ash' needs the scale")],
)
def test_a_wrong_scale_is_an_error(scale: str, anchor: str | None, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        check_scale(scale, anchor)
