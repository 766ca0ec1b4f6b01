"""`judgestream judges`: a report on the judges of a running campaign."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams.cli.stored_campaign import echo_rows, read_campaign, unknown_last, view_options
from streams.cli.terminal import format_number, refuse_combination

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.reports.views import JudgeView
    from streams.settings import Settings

SORTS = ("judgments", "judge", "seconds", "agreement", "reliability", "sensitivity", "too-fast", "suspicious")


@click.command(
    "judges",
    epilog="""\b
Examples:
  judgestream judges wmt13.fr-en
  judgestream judges wmt13.fr-en --sort agreement --suspicious
  judgestream judges wmt13.fr-en --check
  judgestream judges wmt13.fr-en --check --suspend
  judgestream judges wmt13.csv.gz""",
)
@partial(view_options, servers=("kafka", "redis", "namespace", "max_record_bytes"))
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="judgments",
    show_default=True,
    help="Column to sort by; the judges to check come first.",
)
@click.option("--suspicious", "only", is_flag=True, help="Print only suspicious judges.")
@click.option("--check", is_flag=True, help="Read the log, and test each judge against the votes of the others.")
@click.option("--suspend", is_flag=True, help="After --check, suspend the judges whose votes are flagged.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def command(
    settings: Settings,
    *,
    campaign: str,
    as_object: bool,
    as_table: bool,
    sort: str,
    only: bool,
    check: bool,
    suspend: bool,
    yes: bool,
) -> None:
    """Report on the judges of a running campaign, by pseudonym, and mark suspicious judges.

    Agreement is with the majority of earlier judgments. Reliability comes from the model trueskill-judges, sensitivity
    from the model grm. See docs/views.md for what makes a judge suspicious.

    --check tests each judge against what the votes of the others predict, on the whole log of the campaign. CAMPAIGN
    may also be a file of judgments, which is then tested. See docs/judges.md for what the tests find.
    """
    file = Path(campaign)
    if check or suspend or file.is_file():
        refuse_combination(json=as_object, csv=as_table, suspend=suspend)
        if as_table:
            raise click.UsageError("the tests of --check have no CSV; use --json")
        _check(settings, campaign, file, as_object=as_object, suspend=suspend, yes=yes)
        return
    from streams.reports.views import JudgeView, detection_power, judge_views

    stored = read_campaign(settings, campaign, as_object=as_object, as_table=as_table)
    judges = sorted(judge_views(stored), key=_order(sort))
    if only:
        judges = [judge for judge in judges if judge.suspicious]
    if as_object or as_table:
        echo_rows(campaign, "judges", judges, JudgeView, as_object=as_object)
    else:
        _print(judges)
        if (power := detection_power(stored)) is not None:
            click.echo(power.message)


def _check(settings: Settings, campaign: str, file: Path, *, as_object: bool, suspend: bool, yes: bool) -> None:
    """Print the exact tests of a file or of a campaign, and suspend flagged judges."""
    from streams.cli.judge_check import check_campaign, check_file, plain_report, print_report, suspend_flagged
    from streams.wire.events import encode

    if file.is_file():
        if suspend:
            raise click.UsageError(f"{file} is a file; only judges of a running campaign can be suspended")
        reports = check_file(file)
    else:
        reports = {campaign: check_campaign(settings, campaign)}
    if as_object:
        click.echo(encode({"campaigns": [{"campaign": name, **plain_report(each)} for name, each in reports.items()]}))
        return
    for number, (name, report) in enumerate(reports.items()):
        if number:
            click.echo()
        print_report(name, report)
    if suspend:
        suspend_flagged(settings, campaign, reports[campaign], yes=yes)


def _order(sort: str) -> Callable[[JudgeView], tuple[float | str, ...]]:
    """Return a sort key that puts the judges to check first."""
    if sort == "judge":
        return lambda judge: (judge.judge,)
    if sort == "suspicious":
        return lambda judge: (-len(judge.suspicious), -judge.judgments)
    if sort in ("judgments", "too-fast"):
        field = sort.replace("-", "_")
        return lambda judge: (-getattr(judge, field), judge.judge)
    return lambda judge: (unknown_last(getattr(judge, sort)), -judge.judgments)


def _agreement(judge: JudgeView) -> str:
    if not judge.compared:
        return "-"
    return f"{format_number(judge.agreement, '.2f')} ({judge.agreed:,}/{judge.compared:,})"


def _gold(judge: JudgeView) -> str:
    if judge.gold_low is None or judge.gold_high is None:
        return "-"
    total = judge.gold_passed + judge.gold_failed
    return f"{judge.gold_passed:,}/{total:,} ({judge.gold_low:.0%}-{judge.gold_high:.0%})"


NUMBERS = ("judgments", "seconds", "agreement", "sensitivity", "reliability", "too fast", "gold items passed")


def _print(judges: list[JudgeView]) -> None:
    from streams.cli.terminal import print_table

    columns: dict[str, Callable[[JudgeView], str]] = {
        "judge": lambda judge: judge.judge,
        "judgments": lambda judge: f"{judge.judgments:,}",
        "seconds": lambda judge: format_number(judge.seconds, ".1f"),
        "agreement": _agreement,
        "sensitivity": lambda judge: format_number(judge.sensitivity, ".2f"),
        "reliability": lambda judge: format_number(judge.reliability, ".2f"),
        "too fast": lambda judge: f"{judge.too_fast:,}",
        "gold items passed": _gold,
        "": lambda judge: "excluded" if judge.excluded else "",
        "suspicious": lambda judge: f"! {', '.join(judge.suspicious)}" if judge.suspicious else "",
    }
    empty = ("-", "0", "")  # a column with only these is left out
    cells_of = {name: [write(judge) for judge in judges] for name, write in columns.items()}
    columns_kept = {
        name: cells for name, cells in cells_of.items() if name == "judge" or any(each not in empty for each in cells)
    }
    print_table(tuple(columns_kept), zip(*columns_kept.values(), strict=True), wrapped=["suspicious"], right=NUMBERS)
    suspicious = sum(bool(judge.suspicious) for judge in judges)
    click.echo(f"\n{len(judges):,} judge{'s' * (len(judges) != 1)}, {suspicious:,} suspicious")
