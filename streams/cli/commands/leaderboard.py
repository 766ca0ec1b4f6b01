"""`judgestream leaderboard`: the leaderboard of a running campaign."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from streams.cli.categories import category_options
from streams.cli.scale import scale_options
from streams.cli.stored_campaign import open_store, read_campaign, summary, view_options
from streams.cli.terminal import refuse_combination, safe

if TYPE_CHECKING:
    from streams.cli.categories import CategoryChoice
    from streams.cli.scale import ScoreUnit
    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.rebuild.past import PastCampaign
    from streams.settings import Settings


@click.command(
    "leaderboard",
    epilog="""\b
Examples:
  judgestream leaderboard wmt13.fr-en
  judgestream leaderboard wmt13.fr-en --scale elo --anchor uedin
  judgestream leaderboard wmt13.fr-en --json
  judgestream leaderboard wmt26 --by domain
  judgestream leaderboard wmt26 --by domain --value news
  judgestream leaderboard wmt13.fr-en --at 2026-05-01
  judgestream leaderboard wmt13.fr-en --at 1499
  judgestream leaderboard wmt13.fr-en --judge judge-17""",
)
@partial(view_options, servers=("kafka", "redis", "namespace", "max_record_bytes"))
@scale_options
@category_options
@click.option(
    "--at",
    metavar="TIME|OFFSET",
    help="Time or offset of the log, inclusive. UTC without a zone; a date is its end.  [default: the present state]",
)
@click.option("--judge", metavar="NAME", help="Pseudonym or id of a judge: the leaderboard of their judgments alone.")
def command(
    settings: Settings,
    *,
    campaign: str,
    as_object: bool,
    as_table: bool,
    unit: ScoreUnit,
    category: CategoryChoice,
    at: str | None,
    judge: str | None,
) -> None:
    """Show the leaderboard of a running campaign and its progress.

    The state is read from Redis. Nothing is changed.

    --by shows the leaderboard of each value of a tag, or of one --value, if the campaign has the setting `boards`.

    --at shows the leaderboard as it was when Kafka had the records up to this offset, or up to this time. The log of
    the campaign's partition is read and rated again from its beginning, with the commands up to there. This needs
    JUDGESTREAM_JUDGE_KEY and the other settings of the workers.

    --judge shows the leaderboard of one judge's judgments alone. It reads the log in the same way.
    """
    from streams.cli import outputs, render
    from streams.reports.notes import board_title, describe_board
    from streams.reports.views import campaign_view

    found: ReadOnlyCampaign
    lines: list[str] = []
    if at is None and judge is None:
        found = read_campaign(settings, campaign, as_object=as_object, as_table=as_table)
    else:
        refuse_combination(json=as_object, csv=as_table)
        past = _read_past(settings, campaign, at, judge)
        found = past.campaign
        if at is not None:
            lines = [f"up to offset {past.offset:,} of {past.partition}, whose last one is {past.last:,}"]
    boards = [unit.of(board) for board in category.boards(found)]
    if as_object:
        click.echo(render.as_json(boards))
    elif as_table:
        click.echo(outputs.leaderboards_as_csv(boards), nl=False)
    else:
        console = render.stdout_console()
        width = render.table_width(console)
        outlook = None if category.tag else boards[0].outlook
        for line in (*summary(campaign_view(found), outlook), *lines, *category.describe(found)):
            console.print(line, width=width)
        for board in boards:
            console.print()
            if board.category is not None:
                console.print(f"{safe(board_title(board))}  {describe_board(board)}", markup=False)
            render.print_board(console, board, width=width, outlook=board.category is not None)  # the summary has it


def _read_past(settings: Settings, campaign: str, at: str | None, judge: str | None) -> PastCampaign:
    """Rate a campaign again from its log, with a progress bar."""
    from streams.cli.judges import find_judge
    from streams.cli.progress import Bar
    from streams.errors import ParameterError
    from streams.formats.window import read_bound
    from streams.rebuild.past import read_past
    from streams.wire.events import LATEST

    pseudonym = None
    if judge is not None:
        with open_store(settings) as store:
            known = find_judge(store, settings, campaign, judge)
        click.echo(str(known), err=True)
        pseudonym = known.pseudonym
    with Bar(total=None) as bar:
        bar.describe(campaign)
        try:
            until = LATEST if at is None else read_bound(at, name="at")
            return read_past(settings, campaign, until, progress=bar.complete_of, judge=pseudonym)
        except ParameterError as error:
            raise click.UsageError(str(error)) from None
