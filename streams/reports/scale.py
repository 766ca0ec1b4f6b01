"""The scale of a leaderboard's scores: gaps around zero, or Elo points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec.structs import replace

from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.wire.events import Leaderboard, Row

Scale = Literal["score", "elo"]
SCALES: tuple[Scale, ...] = get_args(Scale)
ELO_ORIGIN = 1000.0


def check_scale(scale: str, anchor: str | None) -> Scale:
    """Return the scale, or raise ParameterError if it does not exist or if it has no anchor.

    >>> check_scale("elo", "cedar")
    'elo'
    """
    found: Scale | None = next((each for each in SCALES if each == scale), None)
    if found is None:
        raise ParameterError(f"no scale {scale!r}; {suggestion(scale, SCALES)}")
    if anchor is not None and found != "elo":
        raise ParameterError(f"the anchor {anchor!r} needs the scale 'elo'; scores are centred")
    return found


def on_scale(board: Leaderboard, scale: Scale, *, anchor: str | None = None) -> Leaderboard:
    """Return a leaderboard whose scores are on this scale.

    On the Elo scale, the anchor has 1000 points. Without an anchor, and in an island without it, the mean has. 400
    points are a factor of ten in the odds. Ranks, ranges and clusters stay as they are.
    """
    if scale == board.scale:
        return board
    if scale == "score":
        raise ParameterError(f"the scores of {board.campaign!r} are Elo points already")
    if board.elo_per_score is None:
        raise ParameterError(
            f"the model {board.model!r} has no Elo scale, because its scores are no odds; choose the model trueskill"
        )
    names = [row.system for row in board.rows]
    if anchor is not None and anchor not in names:
        raise ParameterError(
            f"the anchor {anchor!r} is no system of the campaign {board.campaign!r}; {suggestion(anchor, names)}"
        )
    factor, origins = board.elo_per_score, _origins(board.rows, anchor)
    rows = tuple(
        replace(
            row,
            score=ELO_ORIGIN + factor * (row.score - origins[row.island]),
            deviation=factor * row.deviation,
        )
        for row in board.rows
    )
    margin = None if board.margin is None else factor * board.margin
    return replace(board, rows=rows, margin=margin, scale="elo")


def _origins(rows: Sequence[Row], anchor: str | None) -> dict[int, float]:
    """Return the score of each island that gets 1000 points."""
    islands: dict[int, list[float]] = {}
    for row in rows:
        islands.setdefault(row.island, []).append(row.score)
    origins = {island: sum(scores) / len(scores) for island, scores in islands.items()}
    return origins | {row.island: row.score for row in rows if row.system == anchor}
