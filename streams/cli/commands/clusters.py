"""`judgestream clusters`: the official WMT ranking of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.log_campaigns import collect_campaigns, rate_log
from streams.cli.log_options import LogFile, log_argument
from streams.cli.ranking import print_leaderboards, rank_campaigns, ranking_options
from streams.cli.terminal import print_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.offline.score_clusters import ScoreTest
    from streams.wire.events import Judgment


@click.command(
    "clusters",
    epilog="""\b
Examples:
  judgestream clusters wmt15.csv.gz --no-resample
  judgestream clusters wmt15.csv.gz --campaign wmt15.de-en --json
  judgestream clusters ad-csen-good-stnd-redup.csv --tests
  judgestream clusters mqm_ted_ende.tsv --no-references""",
)
@log_argument
@ranking_options
@click.option(
    "--resample/--no-resample",
    default=True,
    show_default=True,
    help="Resample the comparisons in each run, as in WMT16, or not, as in WMT15.",
)
@click.option(
    "--z/--raw",
    "standardise",
    default=None,
    help="Standardise scores per judge, or use them as given.  [default: as the official results of such a file]",
)
@click.option("--tests", "with_tests", is_flag=True, help="Print the rank-sum test of every two systems, for scores.")
def command(
    *,
    log: LogFile,
    campaigns: tuple[str, ...],
    runs: int | None,
    seed: int,
    as_object: bool,
    resample: bool,
    standardise: bool | None,
    with_tests: bool,
) -> None:
    """Rank the systems of a log by the official WMT procedure, with clusters.

    FILE is a log in any format of `judgestream convert`. For rankings, the score is the mean of TrueSkill's mu over all
    runs, and the deviation is its standard deviation. A rank range leaves out 2.5 % of the runs at each end. For scores
    (direct assessment, ESA, MQM), the score is the mean over segments, the deviation is its standard error, and
    clusters come from one-sided rank-sum tests at p < 0.05. See docs/ranking.md.
    """
    from streams.core import kernels
    from streams.offline.planning import WMT, plan_ranking
    from streams.offline.scores import choose_model

    plan = plan_ranking(ranges=WMT, runs=runs)
    model, batches = choose_model(log.batches(columns=log.is_long), only=campaigns)
    if model != plan.model.name:
        if runs is not None:
            raise click.UsageError(f"{log.file}: --runs is for rankings, and the log has scores; leave it out")
        _rank_scores(log, batches, campaigns, standardise=standardise, with_tests=with_tests, as_object=as_object)
        return
    if standardise is not None or with_tests:
        raise click.UsageError(f"{log.file}: --z, --raw and --tests are for scores, and the log has rankings")
    kernels.compiled("pairs")  # the runs need compiled kernels anyway, and count the log ten times faster
    rated = rate_log(log, plan.settings, only=campaigns, batches=batches)
    boards = rank_campaigns(rated, plan, seed=seed, resample=resample)
    print_leaderboards(boards, plan, as_object=as_object)


def _rank_scores(
    log: LogFile,
    batches: Iterable[Sequence[Judgment]],
    campaigns: tuple[str, ...],
    *,
    standardise: bool | None,
    with_tests: bool,
    as_object: bool,
) -> None:
    from streams.offline.score_clusters import rank_assessment
    from streams.wire.events import encode

    logs = collect_campaigns(log, batches, only=campaigns)
    scale = (log.reading.summary.scale or "z") if standardise is None else "z" if standardise else "raw"
    ranked = [one for name in sorted(logs) if (one := rank_assessment(name, logs[name], scale=scale)).leaderboard.rows]
    rankings = sum(judgment.score is None for found in logs.values() for judgment in found)
    if rankings:
        log.report(f"rankings do not count, because the log begins with scores: {rankings:,} left out")
    boards, tests = [one.leaderboard for one in ranked], [test for one in ranked for test in one.tests]
    if as_object:
        click.echo(encode({"campaigns": boards, "scale": scale, "tests": tests}))
        return
    print_leaderboards(boards, as_object=False)
    if with_tests:
        click.echo()
        _print_tests(tests)


def _print_tests(tests: Sequence[ScoreTest]) -> None:
    headings = ("campaign", "system", "opponent", "difference", "p", "")
    lines = [
        (test.campaign, test.system, test.opponent, f"{test.difference:.3f}", f"{test.p:.4f}", test.stars)
        for test in tests
    ]
    print_table(headings, lines, wrapped=["campaign", "system", "opponent"], right=["difference", "p"])
