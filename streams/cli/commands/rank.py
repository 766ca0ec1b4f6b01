"""`judgestream rank`: the leaderboards of a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.controls import ControlTest, control_test_options, labelled
from streams.cli.history_file import history_options
from streams.cli.importing import without_collecting
from streams.cli.log_campaigns import rate_log
from streams.cli.log_options import LogFile, log_argument
from streams.cli.model_choice import model_options
from streams.cli.options import with_settings
from streams.cli.ranking import print_leaderboards, rank_campaigns, ranking_options
from streams.cli.scale import scale_options
from streams.cli.style_control import as_json, labelled_controlled, print_effects, style_option
from streams.cli.terminal import refuse_combination
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from streams.cli.history_file import HistoryFile
    from streams.cli.model_choice import ModelChoice
    from streams.cli.scale import ScoreUnit
    from streams.cli.style_control import StyleOption
    from streams.core.campaign.campaign import Campaign
    from streams.offline.categories import CategoryField
    from streams.offline.rating import RatedLog
    from streams.reports import History, Report
    from streams.settings import Settings
    from streams.wire.events import Judgment, Leaderboard

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "rank",
    epilog="""\b
Examples:
  judgestream rank wmt13.csv.gz
  judgestream rank wmt13.csv.gz --model expected-wins --ranges bootstrap
  judgestream rank wmt15.csv.gz --model bradley-terry --campaign wmt15.de-en --json
  judgestream rank wmt13.csv.gz --only source=researcher
  judgestream rank votes.jsonl --by language
  judgestream rank wmt13.csv.gz --until 1000
  judgestream rank wmt13.csv.gz --model expected-wins --controls researcher --leave-out-failing
  judgestream rank samples/arena.csv --model trueskill --parameter ways=free-for-all --parameter beta=2
  judgestream rank samples/arena.csv --model grm --baseline birch
  judgestream rank samples/arena.csv --scale elo --anchor birch
  judgestream rank wmt13.csv.gz --html ranking.html --plot ranking.png
  judgestream rank samples/arena.csv --history history.csv
  judgestream rank battles.jsonl --control length,markdown""",
)
@log_argument
@ranking_options
@model_options
@scale_options
@control_test_options
@click.option(
    "--by",
    metavar="TAG",
    help="Tag: one more leaderboard per value, e.g. language. Also judge, segment or source.",
)
@style_option
@click.option("--csv", "as_table", is_flag=True, help="Print CSV, one row per system.")
@click.option("--markdown", "as_text", is_flag=True, help="Print Markdown, one table per campaign.")
@click.option("--html", "page", type=_FILE, metavar="FILE", help="File for a self-contained HTML page.")
@click.option(
    "--plot",
    type=_FILE,
    metavar="FILE",
    help="File for a figure, one per campaign: .png, .svg or .pdf.",
)
@history_options
@with_settings()
def command(
    settings: Settings,
    *,
    log: LogFile,
    campaigns: tuple[str, ...],
    seed: int,
    as_object: bool,
    choice: ModelChoice,
    unit: ScoreUnit,
    test: ControlTest | None,
    by: str | None,
    style: StyleOption | None,
    as_table: bool,
    as_text: bool,
    page: Path | None,
    plot: Path | None,
    history: HistoryFile | None,
) -> None:
    """Rank the systems of a log. No server is needed.

    FILE is a log in any format of `judgestream convert`, or `-` for standard input. The ranges of trueskill are groups:
    one range for the same judges, if they were asked again, and one for other judges. A solid line holds for other
    judges, a dashed one for the same judges. trueskill also has the official wmt ranges. Other models with deviations
    have closed (default), posterior and bootstrap, and models without have bootstrap only. `judgestream models NAME`
    shows the ranges and parameters of a model. Without --model, the first judgment of the log decides: rankings or
    scores.

    --by ranks the judgments of each value of a tag by themselves, after the whole log. At most 50 values of a campaign
    have a leaderboard: those with the most judgments.
    """
    from streams.cli import outputs

    refuse_combination(json=as_object, csv=as_table, markdown=as_text)
    refuse_combination(control=style, controls=test)
    outputs.check_suffix(page, outputs.PAGES, option="--html")
    outputs.check_suffix(plot, outputs.PICTURES, option="--plot")

    if by is not None and (test or history):
        raise click.UsageError(f"--by and {'--controls' if test else '--history'} can't be combined; choose one")
    field = _parse_by(by)
    choice.check()
    if history:
        history.check(log)
    results = test.run(log, campaigns) if test else {}
    if style:
        style.attach(log)
    plan, batches = choice.read(log, campaigns)  # from here on, the file is read beside
    with without_collecting():
        from streams.cli import render  # noqa: F401 - it imports rich, which takes as long as some batches
        from streams.offline.categories import in_order, rank_categories
        from streams.offline.rating import make_leaderboard

    campaign_type = plan.campaign_type
    if style:
        style.check(plan)
        batches, campaign_type = style.keep(log, batches), style.campaign_type
    controlled: list[Report] = []

    def ranked(source: LogFile, names: Sequence[str]) -> list[Report]:
        histories, read = Histories(), batches if source is log else None
        observe = histories.observe if plot else None

        def restart(again: LogFile) -> Iterable[Sequence[Judgment]]:
            histories.by_campaign.clear()
            return style.read_again(again) if style else again.judgments()

        rated = rate_log(
            source,
            plan.settings,
            only=names,
            observe=observe,
            restart=restart,
            batches=read,
            campaign_type=campaign_type,
            judge_key=settings.judge_key,
            by=field,
            unselected=[style.log.changes] if style else [],
        )
        try:
            boards = [unit.of(board) for board in rank_campaigns(rated, plan, seed=seed)]
            categories, notes = rank_categories(
                rated, lambda part: unit.convert(make_leaderboard(part, plan, seed=seed))
            )
        except ParameterError as error:
            raise click.UsageError(f"{log.file}: {error}") from None
        for note in notes:
            log.report(note)
        made = in_order(reports(boards, rated, histories.by_campaign), categories)
        if style:
            controlled.extend(style.log.rank_all(rated, made, scale=unit.of))
        return made

    found = ranked(log, campaigns)
    failing: frozenset[tuple[str, str]] = frozenset()
    if test and test.leave_out:
        from streams.offline.controls import failing_judges

        failing = failing_judges(results)
    rest = ranked(log.again(without=failing), sorted({name for name, _ in failing})) if failing else []
    every = [*found, *map(labelled, rest), *map(labelled_controlled, controlled)]
    if page:
        outputs.write_page(page, every, log=log.file)
    if plot:
        outputs.write_plots(plot, every)
    boards, others = ([report.leaderboard for report in each] for each in (found, rest))
    if history:
        history.write(log, plan, boards, unit=unit, seed=seed, judge_key=settings.judge_key)
    if test and (as_table or as_text):
        test.print(results.values(), err=True)
    if style and as_table:
        for report in controlled:
            print_effects(report, err=True)
    if as_object and test:
        click.echo(test.as_json(boards, results, others))
    elif as_object and style:
        click.echo(as_json(boards, controlled))
    elif as_table and style:
        column = ("control", "none", " ".join(style.log.features.names))
        others = [report.leaderboard for report in controlled]
        click.echo(outputs.leaderboards_as_csv(boards, others, column=column), nl=False)
    elif as_table:
        click.echo(outputs.leaderboards_as_csv(boards, others), nl=False)
    elif as_text:
        click.echo(outputs.leaderboards_as_markdown(every), nl=False)
    else:
        print_leaderboards(boards, plan, as_object=as_object)
        if test:
            click.echo()
            test.print(results.values())
        if rest:
            click.echo()
            print_leaderboards([labelled(report).leaderboard for report in rest], plan, as_object=False)
        for report in controlled:
            click.echo()
            print_leaderboards([labelled_controlled(report).leaderboard], plan, as_object=False)
            print_effects(report)


def _parse_by(name: str | None) -> CategoryField | None:
    if name is None:
        return None
    from streams.offline.categories import CategoryField

    try:
        return CategoryField(name)
    except ParameterError as error:
        raise click.UsageError(f"--{error}") from None


class Histories:
    """The ratings over time, by campaign."""

    def __init__(self) -> None:
        self.by_campaign: dict[str, History] = {}

    def observe(self, campaign: Campaign) -> None:
        """Record the ratings of a campaign."""
        from streams.reports import History

        self.by_campaign.setdefault(campaign.name, History()).observe(campaign)


def reports(
    boards: Sequence[Leaderboard], rated: RatedLog, histories: Mapping[str, History] | None = None
) -> list[Report]:
    """Return a report for each leaderboard, with its pair counts and history."""
    from streams.reports import Report

    return [
        Report(
            leaderboard=board,
            counts=rated.campaigns[board.campaign].tables.pair_counts(),
            history=(histories or {}).get(board.campaign),
        )
        for board in boards
    ]
