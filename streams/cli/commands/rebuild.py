"""`judgestream rebuild`: the state in Redis, computed again from the log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from streams.cli.options import with_settings
from streams.cli.terminal import confirm
from streams.wire.quarantine import way_out

if TYPE_CHECKING:
    from streams.rebuild.differences import CampaignDifference, PartitionReport, RebuildReport, ValueDifference
    from streams.settings import Settings

MOST_SYSTEMS = 20


@click.command(
    "rebuild",
    epilog="\b\nExamples:\n  judgestream rebuild wmt13.fr-en --dry-run\n  judgestream rebuild --all --yes",
)
@click.argument("campaign", required=False)
@click.option(
    "--all", "everything", is_flag=True, help="Rebuild all campaigns, and the offsets and counts of the partitions."
)
@click.option(
    "--dry-run", is_flag=True, help="Print the differences and change nothing. The exit code is 1 if there are any."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_settings("kafka", "redis", "namespace", "seen_ids", "unknown_campaign", "max_record_bytes", "seed")
def command(
    settings: Settings, *, campaign: str | None, everything: bool, dry_run: bool, as_json: bool, yes: bool
) -> None:
    """Rate the log again, and replace the state in Redis if it differs. This also ends a quarantine.

    Workers may keep running. If a partition differs, its worker is stopped and comes back after its session timeout.
    Use the same settings as the workers, including JUDGESTREAM_JUDGE_KEY.
    """
    from streams.errors import ParameterError

    if everything == (campaign is not None):
        raise click.UsageError("give either a CAMPAIGN or --all")
    confirm(f"Replace the state of {campaign or 'all campaigns'} if it differs from the log?", yes=yes or dry_run)
    try:
        report = _rebuild_with_bar(settings, campaign, dry_run=dry_run)
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        from streams.wire.events import encode

        click.echo(encode({"differs": report.differs, **_plain(report)}))
    else:
        _print(report)
    if report.other_judges:
        click.echo(
            "The pseudonyms of judges differ. Is JUDGESTREAM_JUDGE_KEY the same as that of the workers?",
            err=True,
        )
    sys.exit(1 if report.failed or (dry_run and report.differs) else 0)


def _rebuild_with_bar(settings: Settings, campaign: str | None, *, dry_run: bool) -> RebuildReport:
    """Rebuild, with a progress bar."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from streams.rebuild.rebuild import rebuild

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("records", total=None)
        return rebuild(
            settings,
            campaign,
            dry_run=dry_run,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def _plain(report: RebuildReport) -> dict[str, object]:
    import msgspec

    plain: dict[str, object] = msgspec.to_builtins(report)
    return plain


def _print(report: RebuildReport) -> None:
    for partition in report.partitions:
        if partition.head or partition.differences:
            _print_partition(partition)
    campaigns = sum(partition.campaigns for partition in report.partitions)
    records = sum(partition.records for partition in report.partitions)
    different = sum(len(partition.differences) for partition in report.partitions)
    compared = f"{campaigns} campaign{'s'[: campaigns != 1]} from {records:,} records"
    for name in report.released:
        ends = "would end" if report.dry_run else "has ended"
        click.echo(f"✓ {name}: all its records can be rated now; its quarantine {ends}")
    for name in report.rated_again:
        click.echo(
            f"- {name}: its worker is rating it again. Differences from the log are expected until that has ended, so "
            f"it was not compared. To see whether it has ended, run: judgestream campaign show {name}"
        )
    for name, error in report.failed.items():
        click.echo(
            f"✗ {name}: this version fails on it with an unexpected error ({error}). Its stored state was not changed. "
            f"{way_out(name)}"
        )
    if not campaigns and report.rated_again and not report.differs:
        return
    if not report.differs:
        click.echo(f"{'✗' if report.failed else '✓'} {compared}: {_unchanged(report)}")
    elif report.dry_run:
        click.echo(f"✗ {compared}: {different} differ; nothing was changed")
    else:
        click.echo(f"✓ {compared}: {different} differed and were replaced")


def _unchanged(report: RebuildReport) -> str:
    return f"{len(report.failed)} can't be rated" if report.failed else "the state is as in the log"


def _print_partition(partition: PartitionReport) -> None:
    click.echo(partition.partition)
    _print_changes(partition.head)
    for difference in partition.differences:
        _print_campaign(difference)
    click.echo()


def _print_campaign(difference: CampaignDifference) -> None:
    click.echo(f"  {difference.campaign}")
    for table, rows in difference.tables.items():
        click.echo(f"    {table:<12} {rows.missing:>7} missing {rows.extra:>7} extra {rows.different:>7} different")
    _print_changes(difference.fields)
    for system, mean in list(difference.means.items())[:MOST_SYSTEMS]:
        click.echo(f"    mean of {system}: {_format(mean.stored)} stored, {_format(mean.log)} from the log")
    if (more := len(difference.means) - MOST_SYSTEMS) > 0:
        click.echo(f"    and {more} more; use --json to see all")


def _print_changes(changes: dict[str, ValueDifference]) -> None:
    for name, value in changes.items():
        click.echo(f"    {name:<12} {_format(value.stored)} stored, {_format(value.log)} from the log")


def _format(value: object) -> str:
    return "nothing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
