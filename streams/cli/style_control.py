"""Style control in `rank`: the option --control, and the boards with and without the features."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING

import click

from streams.cli.terminal import print_table
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from streams.cli.log_options import LogFile
    from streams.offline.planning import RankingPlan
    from streams.reports import Report
    from streams.wire.events import Judgment, Leaderboard


def style_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add --control to a command, which gets the StyleOption `style`, or None."""

    @wraps(function)
    def run(*arguments: object, control: str | None, **more: object) -> None:
        function(*arguments, style=StyleOption(control) if control is not None else None, **more)

    option = click.option(
        "--control",
        metavar="FEATURE,...",
        help="Features of the outputs to regress out: length, markdown, or NAME of the columns NAME_a and NAME_b.",
    )
    decorated: Callable[..., None] = option(run)
    return decorated


class StyleOption:
    """The features to control in the ranking of one log."""

    def __init__(self, text: str) -> None:
        from streams.formats.features import OutputFeatures, parse_features
        from streams.offline.style import StyledCampaign, StyleLog

        try:
            self.log = StyleLog(OutputFeatures(parse_features(text)))
        except ParameterError as error:
            raise click.UsageError(f"--{error}") from None
        self.campaign_type = StyledCampaign

    def attach(self, log: LogFile) -> None:
        """Read the log with the features of its outputs."""
        log.reading.features = self.log.features

    def check(self, plan: RankingPlan) -> None:
        """Raise UsageError if a plan ranks by a model without style control."""
        from streams.offline.style import check_plan

        try:
            check_plan(plan)
        except ParameterError as error:
            raise click.UsageError(f"--{error}") from None

    def read_again(self, log: LogFile) -> Iterable[Sequence[Judgment]]:
        """Yield the judgments of the log once more, because judges changed verdicts."""
        self.attach(log)
        self.log.clear()
        yield from self.log.keep(log.judgments(), log=log.file)

    def keep(self, log: LogFile, batches: Iterable[Sequence[Judgment]]) -> Iterable[Sequence[Judgment]]:
        """Yield the judgments with features, and report how many have none."""
        yield from self.log.keep(batches, log=log.file)
        if self.log.left_out:
            names = ", ".join(self.log.features.names)
            log.report(
                f"{self.log.left_out:,} of {self.log.read:,} judgments do not have {names} of both outputs, and are "
                "left out of both boards"
            )


def labelled_controlled(report: Report) -> Report:
    """Return the report of a controlled ranking under a name of its own."""
    from msgspec.structs import replace as replace_fields

    board = report.leaderboard
    return replace(report, leaderboard=replace_fields(board, campaign=f"{board.campaign}.controlled"))


def print_effects(report: Report, *, err: bool = False) -> None:
    """Print the coefficients of the features and the ranks that change. On standard error, as plain lines."""
    from streams.reports.effects import HEADINGS, describe_moves, describe_unused, effect_rows

    assert report.effects is not None
    each = report.effects
    rows = effect_rows(each.features, each.leaderboard.scale)
    sentences = [*describe_unused(each.unused), describe_moves(each.moved, len(each.leaderboard.rows))]
    if err:
        for row in rows:
            click.echo("  ".join(f"{name} {cell}" for name, cell in zip(HEADINGS, row, strict=True)), err=True)
    elif rows:
        print_table(HEADINGS, rows, wrapped=(), right=HEADINGS[1:])
    for sentence in sentences:
        click.echo(sentence, err=err)


def as_json(boards: Sequence[Leaderboard], controlled: Sequence[Report]) -> str:
    """Return the JSON object of leaderboards, each with its controlled ranking as `control`."""
    from msgspec import json, to_builtins

    pairs = zip(boards, controlled, strict=True)
    campaigns = [{**to_builtins(board), "control": to_builtins(report.effects)} for board, report in pairs]
    return json.encode({"campaigns": campaigns}).decode()
