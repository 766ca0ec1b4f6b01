"""`judgestream pairs`: every pair of systems of a running campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.stored_campaign import echo_rows, read_campaign, view_options
from streams.cli.terminal import format_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.reports import PairView
    from streams.settings import Settings
    from streams.wire.events import Leaderboard

CELL = 5  # characters of a column of the matrix


@click.command(
    "pairs",
    epilog="""\b
Examples:
  judgestream pairs wmt13.fr-en
  judgestream pairs wmt13.fr-en --system uedin --list
  judgestream pairs wmt13.fr-en --csv""",
)
@view_options
@click.option("--system", metavar="NAME", help="System whose pairs are printed, from its side.  [default: all]")
@click.option("--list", "as_list", is_flag=True, help="Print one line per pair, with wins, ties and losses.")
def command(
    settings: Settings, *, campaign: str, as_object: bool, as_table: bool, system: str | None, as_list: bool
) -> None:
    """Compare every pair of systems of a running campaign.

    A cell is the percentage of judgments that prefer the system of the row to the system of the column, without ties.
    If the matrix is too wide, and with --list, there is one line per pair.
    """
    from streams.cli.render import stdout_console, table_width
    from streams.cli.terminal import print_table
    from streams.errors import suggestion
    from streams.reports import PairView
    from streams.reports.views import pair_views

    stored = read_campaign(settings, campaign, as_object=as_object, as_table=as_table)
    board, pairs = stored.leaderboard(), pair_views(stored)
    if system is not None:
        names = [row.system for row in board.rows]
        if system not in names:
            raise click.ClickException(f"no system {system!r} in {campaign}; {suggestion(system, names)}")
        pairs = [pair.seen_by(system) for pair in pairs if system in (pair.system, pair.opponent)]
    if as_object or as_table:
        echo_rows(campaign, "pairs", pairs, PairView, as_object=as_object)
    elif not pairs:
        click.echo("No two systems have been compared yet.")
    elif as_list or system is not None or 30 + CELL * len(board.rows) > table_width(stdout_console()):
        print_table(
            ("system", "opponent", "wins", "ties", "losses", "win rate"),
            (
                (
                    pair.system,
                    pair.opponent,
                    f"{pair.wins:,}",
                    f"{pair.ties:,}",
                    f"{pair.losses:,}",
                    format_number(pair.win_rate, ".2f"),
                )
                for pair in pairs
            ),
            wrapped=["system", "opponent"],
            right=["wins", "ties", "losses", "win rate"],
        )
    else:
        _print_matrix(board, pairs)


def _print_matrix(board: Leaderboard, pairs: Sequence[PairView]) -> None:
    """Print a matrix. A dot means never compared, a dash means only ties."""
    from rich.text import Text

    from streams.cli.render import CLUSTER_COLOURS, stdout_console, table_width
    from streams.cli.terminal import safe

    rates = {(pair.system, pair.opponent): pair.win_rate for pair in pairs}
    rates |= {(pair.opponent, pair.system): pair.seen_by(pair.opponent).win_rate for pair in pairs}
    console = stdout_console()
    names = [row.system for row in board.rows]
    width = min(max(map(len, map(safe, names))), table_width(console) - 4 - CELL * len(names))
    console.print(Text(" " * (width + 4) + "".join(f"{place:>{CELL}}" for place in range(1, len(names) + 1)), "dim"))
    for place, name in enumerate(names, start=1):
        label = Text(safe(name), "bold")
        label.truncate(width, overflow="ellipsis", pad=True)
        line = Text.assemble((f"{place:>2}  ", "dim"), label)
        for other in names:
            rate = rates.get((name, other))
            if rate is None:
                symbol = "" if name == other else "-" if (name, other) in rates else "·"
                line.append(f"{symbol:>{CELL}}", style="dim")
            else:
                line.append(f"{100 * rate:>{CELL}.0f}", style=CLUSTER_COLOURS[0 if rate >= 0.5 else 1])
        console.print(line)
