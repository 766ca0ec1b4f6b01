"""The Elo scale as people see it: its unit, whole numbers, and clear errors."""

from __future__ import annotations

import pytest

from streams.errors import ParameterError
from streams.reports.scale import check_scale, on_scale
from streams.reports.score_axis import ScoreAxis, ScoreText
from tests.reports.boards import settled_board


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


def test_elo_points_are_whole_numbers_without_a_sign() -> None:
    board = on_scale(settled_board(), "elo")
    form, axis = ScoreText.of(board), ScoreAxis.of(board)
    assert (form.heading, form.score(board.rows[0]), form.deviation(board.rows[0])) == ("elo", "1100", "20")
    assert (axis.label(axis.low), axis.label(axis.origin), axis.label(axis.high)) == ("860", "1000", "1140")


@pytest.mark.parametrize(
    ("scale", "anchor", "words"),
    [("ello", None, r"no scale 'ello'; did you mean 'elo'\?"), ("score", "ash", "the anchor 'ash' needs the scale")],
)
def test_a_wrong_scale_is_an_error(scale: str, anchor: str | None, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        check_scale(scale, anchor)
