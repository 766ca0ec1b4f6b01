"""`judgestream clusters`: the official WMT ranking of a log."""

from __future__ import annotations

import click

from streams.cli.log_options import LogFile, log_argument, rate_log
from streams.cli.ranking import print_leaderboards, rank_campaigns, ranking_options


@click.command(
    "clusters",
    epilog="""\b
Examples:
  judgestream clusters wmt15.csv.gz --no-resample
  judgestream clusters wmt15.csv.gz --campaign wmt15.de-en --json""",
)
@log_argument
@ranking_options
@click.option(
    "--resample/--no-resample",
    default=True,
    show_default=True,
    help="Resample the comparisons in each run, as in WMT16, or not, as in WMT15.",
)
def command(
    *,
    log: LogFile,
    campaigns: tuple[str, ...],
    runs: int | None,
    seed: int,
    as_object: bool,
    resample: bool,
) -> None:
    """Rank the systems of a log by the official WMT procedure, with clusters.

    FILE is a log in any format of `judgestream convert`. The score is the mean of TrueSkill's mu over all runs, and
    the deviation is its standard deviation. A rank range leaves out 2.5 % of the runs at each end.
    """
    from streams.offline.planning import WMT, plan_ranking

    plan = plan_ranking(ranges=WMT, runs=runs)
    rated = rate_log(log, plan.settings, only=campaigns)
    boards = rank_campaigns(rated, plan, seed=seed, resample=resample)
    print_leaderboards(boards, plan, as_object=as_object)
