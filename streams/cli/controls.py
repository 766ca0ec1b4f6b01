"""Control items in commands: the options, the test of the judges, and its report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from streams.cli.log_campaigns import logs_by_campaign
from streams.cli.terminal import print_table
from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from streams.agreement.control_rows import CampaignControls, Controls
    from streams.cli.log_options import LogFile
    from streams.reports import Report
    from streams.wire.events import Leaderboard


_NEED_CONTROLS = {
    "leave_out": "--leave-out-failing",
    "threshold": "--threshold",
    "margin": "--margin",
    "fewest": "--fewest",
}


def controls_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add --controls, --margin and --fewest to a command."""
    options = (
        click.option(
            "--controls",
            "makers",
            metavar="SOURCE",
            help="Source whose judges make the controls, e.g. researcher, or everybody, or @FILE with given controls.",
        ),
        click.option(
            "--margin",
            type=click.IntRange(0),
            default=5,
            show_default=True,
            help="Minimum lead in votes, exclusive, that makes a pair a control.",
        ),
        click.option(
            "--fewest",
            type=click.IntRange(1),
            default=10,
            show_default=True,
            help="Minimum number of controls for a judge to be tested.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def control_test_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a test on controls to a command, which gets the ControlTest `test`, or None."""

    @wraps(function)
    def run(*, makers: str | None, margin: int, fewest: int, threshold: float, leave_out: bool, **more: object) -> None:
        for name, option in _NEED_CONTROLS.items():
            source = click.get_current_context().get_parameter_source(name)
            if source is ParameterSource.COMMANDLINE and not makers:
                raise click.UsageError(f"{option} needs --controls, for example --controls researcher")
        controls = parse_controls(makers, margin=margin, fewest=fewest, threshold=threshold) if makers else None
        function(test=controls and ControlTest(controls, leave_out=leave_out), **more)

    options = (
        click.option(
            "--threshold",
            type=click.FloatRange(0.0, 1.0),
            default=0.5,
            show_default=True,
            help="Minimum share of controls that a judge must pass.",
        ),
        click.option(
            "--leave-out-failing",
            "leave_out",
            is_flag=True,
            help="Rank once more without the judges who fail their controls.",
        ),
    )
    for option in reversed(options):
        run = option(run)
    return controls_option(run)


def parse_controls(text: str, *, margin: int, fewest: int, threshold: float = 0.5) -> Controls:
    """Read --controls: a source, `everybody`, or @FILE."""
    from streams.offline.controls import choose_controls

    if Path(text).is_file():
        raise click.UsageError(f"--controls {text}: this is a file; write --controls @{text} to read controls from it")
    return choose_controls(text, margin=margin, fewest=fewest, threshold=threshold)


@dataclass(frozen=True)
class ControlTest:
    """A test of the judges of a log on controls, and whether those who fail are left out of a second ranking."""

    controls: Controls
    leave_out: bool

    def run(self, log: LogFile, campaigns: Sequence[str]) -> dict[str, CampaignControls]:
        """Return the result of each campaign. The whole log is read."""
        from streams.agreement.control_rows import control_results
        from streams.offline.controls import check_rest

        first = log.again()
        shared = first.reading.shared = {}
        try:
            found = control_results(logs_by_campaign(first, only=campaigns), shared, self.controls)
            if self.leave_out:
                check_rest(found.values())
        except ParameterError as error:
            raise click.UsageError(f"{log.file}: {error}") from None
        first.reading.shared = None
        return found

    def describe(self, result: CampaignControls) -> str:
        """Return the result of a campaign in one sentence."""
        if not result.items:
            reason = "none of the given controls" if self.controls.items else "no pair with so large a lead"
            way_out = "" if self.controls.items else f"; lower --margin (now {self.controls.margin})"
            return f"{result.campaign}  no controls: {reason} is in this campaign{way_out}"
        failing = _count(len(result.failing), "judge")
        text = (
            f"{result.campaign}  {_count(result.items, 'control')}; {_count(result.tested, 'judge')} met at least "
            f"{self.controls.fewest}, {len(result.failing):,} of them passed less than {self.controls.threshold:.0%}"
        )
        if self.leave_out:
            text += f"; left out: {failing} and {result.left_out:,} of {_count(result.judgments, 'judgment')}"
        return text

    def as_json(
        self, boards: Sequence[Leaderboard], results: Mapping[str, CampaignControls], others: Sequence[Leaderboard]
    ) -> str:
        """Return the JSON object of leaderboards, each with its controls and the leaderboard without failing judges."""
        from msgspec import json, to_builtins

        without = {board.campaign: board for board in (*boards, *others)}  # if nobody fails, it is the same one
        campaigns = []
        for board in boards:
            result = results[board.campaign]
            about = {**to_builtins(result), "left_out": result.left_out}
            more = {"without_failing": without[board.campaign]} if self.leave_out else {}
            campaigns.append({**to_builtins(board), "controls": about, **more})
        return json.encode({"campaigns": campaigns}).decode()

    def print(self, results: Iterable[CampaignControls], *, err: bool = False) -> None:
        """Print the results, and a table of the judges who fail. Without the table on standard error."""
        results = list(results)
        for result in results:
            click.echo(self.describe(result), err=err)
        if err:
            return
        lines = [
            (
                result.campaign,
                each.judge,
                each.source or "-",
                f"{each.passed:,} of {each.controls:,}",
                f"{each.judgments:,}",
            )
            for result in results
            for each in result.failing
        ]
        if lines:
            headings = ("campaign", "judge", "source", "controls passed", "judgments")
            print_table(headings, lines, wrapped=["campaign", "judge"], right=headings[3:])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def labelled(report: Report) -> Report:
    """Return the report of a ranking without failing judges under a name of its own."""
    from msgspec.structs import replace as replace_fields

    board = report.leaderboard
    return replace(report, leaderboard=replace_fields(board, campaign=f"{board.campaign}.without-failing"))
