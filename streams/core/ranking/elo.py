"""The Elo scale: a leaderboard whose scores are points, 400 per factor of ten in the odds of two close systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from streams.wire.events import Leaderboard, Row

CENTRE = 1000.0


def on_elo_scale(board: Leaderboard, *, anchor: str | None = None) -> Leaderboard:
    """Return the leaderboard in Elo points: 1000 is the anchor, or else the mean of the rows of each island.

    Only the island of the anchor is moved by it. Nothing but the unit changes.
    """
    if board.scale == "elo":
        raise ParameterError(f"the leaderboard of {board.campaign!r} is on the Elo scale already")
    if board.elo_per_score is None:
        raise ParameterError(f"the model {board.model!r} has no Elo scale: it has no odds of two systems")
    names = {row.system: row for row in board.rows}
    if anchor is not None and anchor not in names:
        raise ParameterError(f"no system {anchor!r} in {board.campaign!r}; {suggestion(anchor, names)}")
    unit = board.elo_per_score
    zero = {island: _zero(board.rows, island, anchor) for island in {row.island for row in board.rows}}
    return replace(
        board,
        scale="elo",
        margin=None if board.margin is None else board.margin * unit,
        rows=tuple(
            replace(row, score=CENTRE + unit * (row.score - zero[row.island]), deviation=unit * row.deviation)
            for row in board.rows
        ),
    )


def _zero(rows: tuple[Row, ...], island: int, anchor: str | None) -> float:
    """Return the score of an island that becomes 1000."""
    scores = {row.system: row.score for row in rows if row.island == island}
    return scores[anchor] if anchor in scores else sum(scores.values()) / len(scores)
