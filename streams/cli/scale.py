"""The options --scale and --anchor: the unit of the scores that a command shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.wire.events import Leaderboard


@dataclass(frozen=True)
class ScoreUnit:
    """The scale of the scores, and the system that has 1000 Elo points."""

    scale: str = "score"
    anchor: str | None = None

    def of(self, board: Leaderboard) -> Leaderboard:
        """Return a leaderboard in this unit, or raise UsageError."""
        try:
            return self.convert(board)
        except ParameterError as error:
            raise click.UsageError(str(error)) from None

    def convert(self, board: Leaderboard) -> Leaderboard:
        """Return a leaderboard in this unit, or raise ParameterError, for example if the anchor is not on it."""
        from streams.reports.scale import check_scale, on_scale

        return on_scale(board, check_scale(self.scale, self.anchor), anchor=self.anchor)


def scale_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add --scale and --anchor to a command, which gets the ScoreUnit `unit`."""

    @wraps(function)
    def run(*arguments: Any, scale: str, anchor: str | None, **more: Any) -> None:
        if anchor is not None and scale != "elo":
            raise click.UsageError("--anchor needs --scale elo")
        function(*arguments, unit=ScoreUnit(scale, anchor), **more)

    options = (
        click.option(
            "--scale",
            type=click.Choice(["score", "elo"]),
            default="score",
            show_default=True,
            help="Unit of the scores. elo: 400 points per factor of ten in the odds.",
        ),
        click.option("--anchor", metavar="SYSTEM", help="System with 1000 Elo points.  [default: the mean of all]"),
    )
    for option in reversed(options):
        run = option(run)
    return run
