"""The scale of a leaderboard's scores: gaps around zero, or Elo points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from streams.core.ranking.elo import on_elo_scale
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from streams.wire.events import Leaderboard

Scale = Literal["score", "elo"]
SCALES: tuple[Scale, ...] = get_args(Scale)


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
    """Return a leaderboard, as a model has computed it, on this scale."""
    return on_elo_scale(board, anchor=anchor) if scale == "elo" else board
