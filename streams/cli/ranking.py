"""The part that commands which rank a file share: options, computing leaderboards and printing them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from streams.cli.log_options import campaigns_option
from streams.cli.progress import Bar
from streams.cli.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.offline.planning import RankingPlan
    from streams.offline.rating import RatedLog
    from streams.wire.events import Leaderboard, Parameter


def ranking_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add --campaign, --runs, --seed and --json to a command."""
    options = (
        campaigns_option("rank, e.g. wmt15.de-en"),
        click.option(
            "--runs",
            type=click.IntRange(3, 1_000_000),
            help="Number of samples from which rank ranges are computed.  [default: by the model, mostly 1000]",
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**32 - 1),
            default=1,
            show_default=True,
            help="Seed of the random number generator.",
        ),
        click.option("--json", "as_object", is_flag=True, help="Print one JSON object."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def parse_parameters(model: str, texts: Sequence[str]) -> dict[str, Parameter]:
    """Return the values of --parameter, each by the type that the model gives it."""
    from streams.cli.campaign_settings import parse_pairs
    from streams.core.ranking_models import find_ranking_model

    values: dict[str, str] = {}
    for name, text in parse_pairs(texts, option="--parameter"):
        if name in values:
            raise click.UsageError(f"--parameter {name} is given twice")
        values[name] = text
    return find_ranking_model(model).parse(values)


def rank_campaigns(rated: RatedLog, plan: RankingPlan, *, seed: int, resample: bool = True) -> list[Leaderboard]:
    """Rank the campaigns of a log in order of name, on all cores, with a progress bar."""
    from streams.offline.planning import WMT
    from streams.offline.rating import make_leaderboard

    campaigns = [rated.campaigns[name] for name in sorted(rated.campaigns)]
    total = plan.runs * len(campaigns) if plan.ranges == "bootstrap" else None
    if plan.ranges == WMT:
        total = plan.runs * sum(campaign.tables.pair_counts().comparisons for campaign in campaigns)
    boards = []
    with Bar(total=total) as bar:
        for campaign in campaigns:
            bar.describe(campaign.name)
            boards.append(
                make_leaderboard(
                    campaign,
                    plan,
                    seed=seed,
                    resample=resample,
                    threads=os.cpu_count() or 1,
                    progress=bar.advance,
                )
            )
    return boards


def print_leaderboards(boards: Sequence[Leaderboard], plan: RankingPlan | None = None, *, as_object: bool) -> None:
    """Print leaderboards as tables, or as one JSON object. With a plan, a table has the samples of its rank ranges."""
    from streams.cli import render
    from streams.reports.notes import board_title, describe_board

    if as_object:
        click.echo(render.as_json(boards))
        return
    console = render.stdout_console()
    width, ranges = render.table_width(console), f" ({plan.samples})" if plan and plan.samples else ""
    for number, board in enumerate(boards):
        if number:
            console.print()
        console.print(f"{safe(board_title(board))}  {describe_board(board)}{ranges}", markup=False)
        render.print_board(console, board, width=width)
