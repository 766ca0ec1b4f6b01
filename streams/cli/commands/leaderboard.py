"""`judgestream leaderboard`: a running campaign as it stands, and what all commands that look at one share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from streams.cli.options import with_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import msgspec
    from rich.text import Text

    from streams.core.campaign.campaign import Campaign
    from streams.reports.views import CampaignView
    from streams.settings import Settings
    from streams.stores.redis.store import RedisStore

WIDEST = 120


def view_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the campaign, the two forms for programs, and where Redis is."""
    options = (
        click.argument("campaign"),
        click.option("--json", "as_object", is_flag=True, help="Print one JSON object."),
        click.option("--csv", "as_table", is_flag=True, help="Print CSV."),
        with_settings("redis", "namespace"),
    )
    for option in reversed(options):
        function = option(function)
    return function


@contextmanager
def opened(settings: Settings) -> Iterator[RedisStore]:
    """Connect to the store, to look only."""
    from streams.stores.redis.store import RedisStore

    store = RedisStore(settings.redis, namespace=settings.namespace)
    try:
        yield store
    finally:
        store.close()


def found(store: RedisStore, settings: Settings, name: str) -> Campaign:
    """Read a campaign; if it is not there, suggest one that is."""
    from streams.reports.views import load_campaign
    from streams.wire.topics import JUDGMENTS

    topic = JUDGMENTS.within(settings.namespace)
    return load_campaign(store, name, partitions=[f"{topic}/{number}" for number in range(settings.partitions)])


def read_campaign(settings: Settings, name: str, *, as_object: bool, as_table: bool) -> Campaign:
    """Read a campaign once."""
    if as_object and as_table:
        raise click.UsageError("--json and --csv each take the whole output; give one of them")
    with opened(settings) as store:
        return found(store, settings, name)


def echo_rows(
    campaign: str,
    name: str,
    rows: Sequence[msgspec.Struct],
    kind: type[msgspec.Struct],
    *,
    as_object: bool,
) -> None:
    """Print rows for a program: one JSON object, or CSV."""
    from streams.cli.outputs import structs_as_csv
    from streams.wire.events import encode

    if as_object:
        click.echo(encode({"campaign": campaign, name: rows}))
    else:
        click.echo(structs_as_csv(kind, rows), nl=False)


@click.command(
    "leaderboard",
    epilog="""\b
Examples:
  judgestream leaderboard wmt13.fr-en
  judgestream leaderboard wmt13.fr-en --json""",
)
@view_options
def command(settings: Settings, *, campaign: str, as_object: bool, as_table: bool) -> None:
    """Show the leaderboard of a running campaign, how far it is, and what is still open.

    It is read from Redis as the workers left it there; nothing is changed.
    """
    from streams.cli import outputs, render
    from streams.reports.views import campaign_view

    kept = read_campaign(settings, campaign, as_object=as_object, as_table=as_table)
    board = kept.leaderboard()
    if as_object:
        click.echo(render.as_json([board]))
    elif as_table:
        click.echo(outputs.leaderboards_as_csv([board]), nl=False)
    else:
        console = render.stdout_console()
        width = min(console.width, WIDEST)
        for line in summary(campaign_view(kept)):
            console.print(line, width=width)
        console.print()
        console.print(render.LeaderboardTable(leaderboard=board, width=width))


def summary(view: CampaignView) -> list[Text]:
    """Say in a few lines how far a campaign is."""
    from rich.text import Text

    from streams.cli.terminal import safe

    spent = f" of {view.budget:,}" if view.budget is not None else ""
    withdrawn = f" ({len(view.withdrawn):,} withdrawn)" if view.withdrawn else ""
    excluded = f" ({view.excluded:,} excluded)" if view.excluded else ""
    idle = "".join(
        f"; {count:,} {what}" for count, what in ((view.duplicates, "duplicate"), (view.rejected, "rejected")) if count
    )
    return [
        Text.assemble((view.campaign, "bold"), f"  {view.state}", (f", {view.model}, matches by {view.policy}", "dim")),
        Text.assemble(
            f"{view.judgments:,}{spent} judgments",
            (f" of {view.systems:,} systems{withdrawn} by {view.judges:,} judges{excluded}", "dim"),
            (f" on {view.segments:,} segments{idle}", "dim"),
        ),
        Text(safe(view.outlook)),
    ]
