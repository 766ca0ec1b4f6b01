"""`judgestream leaderboard`: the leaderboard of a running campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.scale import scale_options
from streams.cli.stored_campaign import read_campaign, summary, view_options

if TYPE_CHECKING:
    from streams.cli.scale import ScoreUnit
    from streams.settings import Settings


@click.command(
    "leaderboard",
    epilog="""\b
Examples:
  judgestream leaderboard wmt13.fr-en
  judgestream leaderboard wmt13.fr-en --scale elo --anchor uedin
  judgestream leaderboard wmt13.fr-en --json""",
)
@view_options
@scale_options
def command(settings: Settings, *, campaign: str, as_object: bool, as_table: bool, unit: ScoreUnit) -> None:
    """Show the leaderboard of a running campaign and its progress.

    The state is read from Redis. Nothing is changed.
    """
    from streams.cli import outputs, render
    from streams.reports.views import campaign_view

    stored = read_campaign(settings, campaign, as_object=as_object, as_table=as_table)
    board = unit.of(stored.leaderboard())
    if as_object:
        click.echo(render.as_json([board]))
    elif as_table:
        click.echo(outputs.leaderboards_as_csv([board]), nl=False)
    else:
        console = render.stdout_console()
        width = render.table_width(console)
        for line in summary(campaign_view(stored), board.outlook):
            console.print(line, width=width)
        console.print()
        render.print_board(console, board, width=width, outlook=False)  # the summary has it
