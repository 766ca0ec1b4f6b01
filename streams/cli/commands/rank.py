"""`judgestream rank`: the leaderboards of a log, by any model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.log_options import LogFile, log_argument, rate_log
from streams.cli.progress import Bar
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streams.core.campaign.campaign import Campaign
    from streams.offline.rating import RatedLog
    from streams.reports import History, Report
    from streams.wire.events import Leaderboard

WIDEST = 120
_FILE = click.Path(path_type=Path, dir_okay=False)


def ranking_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all commands that rank a file."""
    options = (
        click.option(
            "--campaign",
            "campaigns",
            multiple=True,
            metavar="NAME",
            help="Only this one, e.g. wmt15.de-en; may be given more than once.",
        ),
        click.option(
            "--runs", type=click.IntRange(3, 1_000_000), default=1000, show_default=True, help="Samples of the ranks."
        ),
        click.option(
            "--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Same seed, same result."
        ),
        click.option("--json", "as_object", is_flag=True, help="Print one JSON object."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command(
    "rank",
    epilog="""\b
Examples:
  judgestream rank wmt13.csv.gz
  judgestream rank wmt13.csv.gz --model expected-wins --ranges bootstrap
  judgestream rank wmt15.csv.gz --model bradley-terry --campaign wmt15.de-en --json
  judgestream rank wmt13.csv.gz --html ranking.html --plot ranking.png""",
)
@log_argument
@ranking_options
@click.option("--model", metavar="NAME", default="trueskill", show_default=True, help="What rates the systems.")
@click.option(
    "--ranges",
    metavar="NAME",
    help="What the rank ranges come from: closed, posterior, bootstrap or wmt; the model has a default.",
)
@click.option("--csv", "as_table", is_flag=True, help="Print CSV: a row a system, all campaigns.")
@click.option("--markdown", "as_text", is_flag=True, help="Print Markdown: a table a campaign.")
@click.option("--html", "page", type=_FILE, metavar="FILE", help="Write one HTML page that needs nothing else.")
@click.option(
    "--plot",
    type=_FILE,
    metavar="FILE",
    help="Write a figure, .png, .svg or .pdf: rank ranges, head to head, ratings over time; one a campaign.",
)
def command(
    *,
    log: LogFile,
    campaigns: tuple[str, ...],
    runs: int,
    seed: int,
    as_object: bool,
    model: str,
    ranges: str | None,
    as_table: bool,
    as_text: bool,
    page: Path | None,
    plot: Path | None,
) -> None:
    """Rank the systems of a log; no server is needed.

    FILE is a log in any format that `judgestream convert` reads, and `-` is standard input. A model is an online one,
    with ranges closed (its default), posterior or bootstrap, and trueskill also wmt; or expected-wins or
    bradley-terry, with ranges by bootstrap.
    """
    from streams.cli import outputs
    from streams.offline.rating import choose_engine, settings_for

    try:
        engine = choose_engine(model, ranges)
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    if as_object + as_table + as_text > 1:
        raise click.UsageError("--json, --csv and --markdown each take the whole output; give one of them")
    outputs.check_suffix(page, outputs.PAGES, option="--html")
    outputs.check_suffix(plot, outputs.PICTURES, option="--plot")
    histories = Histories()
    observe = histories.observe if plot else None
    rated = rate_log(log, settings_for(model, engine), only=campaigns, observe=observe)
    boards = rank_rated(rated, model, engine, runs=runs, seed=seed)
    if page:
        outputs.write_page(page, reports(boards, rated))
    if plot:
        outputs.write_plots(plot, reports(boards, rated, histories.by_campaign))
    if as_table:
        click.echo(outputs.leaderboards_as_csv(boards), nl=False)
    elif as_text:
        click.echo(outputs.leaderboards_as_markdown(reports(boards, rated)), nl=False)
    else:
        show(boards, as_object=as_object)


class Histories:
    """The ratings on the way, of each campaign."""

    def __init__(self) -> None:
        self.by_campaign: dict[str, History] = {}

    def observe(self, campaign: Campaign) -> None:
        """Note the ratings of a campaign."""
        from streams.reports import History

        self.by_campaign.setdefault(campaign.name, History()).observe(campaign)


def reports(
    boards: Sequence[Leaderboard], rated: RatedLog, histories: Mapping[str, History] | None = None
) -> list[Report]:
    """Put each leaderboard together with what stands behind it."""
    from streams.reports import Report

    return [
        Report(
            leaderboard=board,
            counts=rated.campaigns[board.campaign].tables.pair_counts(),
            history=(histories or {}).get(board.campaign),
        )
        for board in boards
    ]


def rank_rated(
    rated: RatedLog, model: str, engine: str, *, runs: int, seed: int, resample: bool = True
) -> list[Leaderboard]:
    """Rank the campaigns of a log in order of name; what takes long goes over all cores, with a bar."""
    from streams.offline.rating import WMT, make_leaderboard

    campaigns = [rated.campaigns[name] for name in sorted(rated.campaigns)]
    total = runs * sum(campaign.tables.pair_counts().comparisons for campaign in campaigns) if engine == WMT else None
    boards = []
    with Bar(total=total) as bar:
        for campaign in campaigns:
            bar.describe(campaign.name)
            boards.append(
                make_leaderboard(
                    campaign,
                    model=model,
                    engine=engine,
                    runs=runs,
                    seed=seed,
                    resample=resample,
                    threads=os.cpu_count() or 1,
                    progress=bar.advance,
                )
            )
    return boards


def show(boards: Sequence[Leaderboard], *, as_object: bool) -> None:
    """Print leaderboards for a program, or for people."""
    from streams.cli import render

    if as_object:
        click.echo(render.as_json(boards))
        return
    console = render.stdout_console()
    for number, found in enumerate(boards):
        clusters = found.rows[-1].cluster if found.rows else 0
        title = (
            f"{found.campaign}  {found.model}, {found.judgments:,} judgments, {clusters} cluster{'s' * (clusters != 1)}"
        )
        if number:
            console.print()
        console.print(title, markup=False)
        console.print(render.LeaderboardTable(leaderboard=found, width=min(console.width, WIDEST)))
