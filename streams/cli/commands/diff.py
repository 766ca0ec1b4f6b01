"""`judgestream diff`: the difference of two leaderboards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from click.core import ParameterSource

from streams.cli.log_campaigns import rate_log
from streams.cli.log_options import LogFile
from streams.cli.model_choice import model_options
from streams.cli.options import with_settings
from streams.cli.ranking import rank_campaigns, ranking_options
from streams.cli.reading_options import reading_options
from streams.cli.scale import scale_options
from streams.errors import ParameterError
from streams.formats import STDIN

if TYPE_CHECKING:
    from streams.cli.model_choice import ModelChoice
    from streams.cli.reading_options import ReadingOptions
    from streams.cli.scale import ScoreUnit
    from streams.settings import Settings
    from streams.wire.events import Leaderboard

_OF_BOARDS = frozenset({"before", "after", "campaigns", "as_object", "config"})  # options that are not for logs


@click.command(
    "diff",
    epilog="""\b
Examples:
  judgestream rank samples/arena.csv --until 1000 --json > before.json
  judgestream diff before.json samples/arena.csv
  judgestream rank samples/arena.csv --until 1000 --json | judgestream diff - samples/arena.csv
  judgestream leaderboard wmt13.fr-en --at 2026-05-01 --json > may.json
  judgestream leaderboard wmt13.fr-en --json | judgestream diff may.json - --json""",
)
@click.argument("before", metavar="A", type=click.Path(path_type=Path, allow_dash=True))
@click.argument("after", metavar="B", type=click.Path(path_type=Path, allow_dash=True))
@reading_options
@ranking_options
@model_options
@scale_options
@with_settings()
def command(
    settings: Settings,
    *,
    before: Path,
    after: Path,
    campaigns: tuple[str, ...],
    seed: int,
    as_object: bool,
    choice: ModelChoice,
    unit: ScoreUnit,
    options: ReadingOptions,
) -> None:
    """Compare two leaderboards: what moved, and what is more than chance.

    A and B are what `rank --json` or `leaderboard --json` print, or logs, which are ranked with the options of `rank`.
    `-` is standard input. Campaigns are matched by name, unless A and B have one each.

    A change is marked with `!` if the rank ranges do not overlap, or if a system has passed another one and the line
    between them has appeared, vanished or turned. Everything else may be chance.
    """
    from streams.cli.board_files import BoardFile, open_boards
    from streams.cli.diff_table import print_diff
    from streams.offline.diff import diff_leaderboards

    if str(before) == str(after) == STDIN:
        raise click.UsageError("only one of A and B can be standard input")
    choice.check()

    def rank(log: LogFile) -> list[Leaderboard]:
        plan, batches = choice.read(log, campaigns)
        rated = rate_log(
            log,
            plan.settings,
            only=campaigns,
            batches=batches,
            campaign_type=plan.campaign_type,
            judge_key=settings.judge_key,
        )
        try:
            return [unit.of(board) for board in rank_campaigns(rated, plan, seed=seed)]
        except ParameterError as error:
            raise click.UsageError(f"{log.file}: {error}") from None

    contents = [open_boards(file) for file in (before, after)]
    if all(isinstance(found, BoardFile) for found in contents):
        _refuse_log_options()
    first, second = (
        found.choose(campaigns) if isinstance(found, BoardFile) else rank(LogFile(file, options, stream=found.stream))
        for file, found in zip((before, after), contents, strict=True)
    )
    try:
        result = diff_leaderboards(first, second)
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    if as_object:
        click.echo(msgspec.json.encode(result).decode())
    else:
        print_diff(result)


def _refuse_log_options() -> None:
    """Raise UsageError if an option is given that only concerns logs."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = parameter.name and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
        if given and parameter.name not in _OF_BOARDS:
            raise click.UsageError(f"{parameter.opts[0]} ranks a log, but A and B are leaderboards; leave it out")
