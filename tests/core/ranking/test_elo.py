"""The Elo scale of a leaderboard."""

from __future__ import annotations

import pytest

from streams.core.ranking.elo import on_elo_scale
from streams.core.ranking.settled import settle
from streams.errors import ParameterError
from streams.wire.events import Leaderboard
from tests.core.ranking.grouped import counted

APART = {("a", "b"): (70, 10, 20), ("b", "c"): (60, 10, 30), ("x", "y"): (90, 0, 10)}


def leaderboard() -> Leaderboard:
    board = settle(counted(APART))
    return Leaderboard(
        campaign="c",
        model="trueskill",
        sequence=1,
        offset=1,
        judgments=300,
        rows=board.rows(),
        margin=board.margin,
        elo_per_score=board.elo_per_score,
    )


def test_the_mean_of_each_island_is_1000() -> None:
    board = on_elo_scale(leaderboard())
    assert board.scale == "elo"
    for island in (1, 2):
        scores = [row.score for row in board.rows if row.island == island]
        assert sum(scores) / len(scores) == pytest.approx(1000.0)


def test_the_anchor_is_1000_and_gaps_stay() -> None:
    plain, board = leaderboard(), on_elo_scale(leaderboard(), anchor="b")
    scores = {row.system: row.score for row in board.rows}
    before = {row.system: row.score for row in plain.rows}
    assert scores["b"] == pytest.approx(1000.0)
    assert plain.elo_per_score is not None
    assert scores["a"] - scores["c"] == pytest.approx(plain.elo_per_score * (before["a"] - before["c"]))
    assert scores["x"] + scores["y"] == pytest.approx(2000.0)
    ratios = [mine.deviation / theirs.deviation for mine, theirs in zip(board.rows, plain.rows, strict=True)]
    assert ratios == pytest.approx([plain.elo_per_score] * 5)


def test_an_unknown_anchor_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ParameterError, match="no system 'bb'"):
        on_elo_scale(leaderboard(), anchor="bb")


def test_a_model_without_odds_has_no_elo_scale() -> None:
    empty = Leaderboard(campaign="c", model="assessment", sequence=0, offset=-1, judgments=0, rows=())
    with pytest.raises(ParameterError, match="no Elo scale"):
        on_elo_scale(empty)
    with pytest.raises(ParameterError, match="already"):
        on_elo_scale(on_elo_scale(leaderboard()))
