"""`judgestream rebuild`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from streams.cli.options import with_settings

if TYPE_CHECKING:
    from streams.rebuild.differences import CampaignDifference, Changed, PartitionReport, Report
    from streams.settings import Settings

SHOWN_SYSTEMS = 20


@click.command(
    "rebuild",
    epilog="\b\nExamples:\n  judgestream rebuild wmt13.fr-en --dry-run\n  judgestream rebuild --all --yes",
)
@click.argument("campaign", required=False)
@click.option("--all", "everything", is_flag=True, help="All campaigns of the log, and the counts of its partitions.")
@click.option("--dry-run", is_flag=True, help="Only say what differs; the exit code is 1 if anything does.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--yes", is_flag=True, help="Do not ask before anything is replaced.")
@with_settings("kafka", "redis", "namespace", "seen_ids", "unknown_campaign", "max_record_bytes", "seed")
def command(
    settings: Settings, *, campaign: str | None, everything: bool, dry_run: bool, as_json: bool, yes: bool
) -> None:
    """Rate the log again and put the result in the place of what Redis holds, where the two differ.

    Workers may run: where something differs, the worker of that partition is held off, and comes back by itself after
    its session timeout. Give the settings that the workers have, JUDGESTREAM_JUDGE_KEY among them.
    """
    from streams.errors import ParameterError

    if everything == (campaign is not None):
        raise click.UsageError("give a CAMPAIGN, or --all")
    if not dry_run and not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody is here to ask: add --yes to replace what differs, or --dry-run to look")
        click.confirm(f"Replace what differs from the log in {campaign or 'all campaigns'}?", abort=True, err=True)
    try:
        report = _rebuilt(settings, campaign, dry_run=dry_run)
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        from streams.wire.events import encode

        click.echo(encode({"differs": report.differs, **_plain(report)}))
    else:
        _print(report)
    if report.other_judges:
        click.echo(
            "Judges go by other pseudonyms than those stored: is JUDGESTREAM_JUDGE_KEY the one that the workers have?",
            err=True,
        )
    sys.exit(1 if dry_run and report.differs else 0)


def _rebuilt(settings: Settings, campaign: str | None, *, dry_run: bool) -> Report:
    """Rebuild behind a progress bar."""
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


def _plain(report: Report) -> dict[str, object]:
    import msgspec

    plain: dict[str, object] = msgspec.to_builtins(report)
    return plain


def _print(report: Report) -> None:
    for partition in report.partitions:
        if partition.head or partition.differences:
            _print_partition(partition)
    campaigns = sum(partition.campaigns for partition in report.partitions)
    records = sum(partition.records for partition in report.partitions)
    different = sum(len(partition.differences) for partition in report.partitions)
    looked = f"{campaigns} campaign{'s'[: campaigns != 1]} from {records:,} records"
    if not report.differs:
        click.echo(f"✓ {looked}: as the log says")
    elif report.dry_run:
        click.echo(f"✗ {looked}: {different} differ; nothing was changed")
    else:
        click.echo(f"✓ {looked}: {different} differed and are as the log says now")


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
    for system, mean in list(difference.means.items())[:SHOWN_SYSTEMS]:
        click.echo(f"    mean of {system}: {_shown(mean.stored)} stored, {_shown(mean.log)} by the log")
    if (more := len(difference.means) - SHOWN_SYSTEMS) > 0:
        click.echo(f"    and {more} more; --json shows all")


def _print_changes(changes: dict[str, Changed]) -> None:
    for name, value in changes.items():
        click.echo(f"    {name:<12} {_shown(value.stored)} stored, {_shown(value.log)} by the log")


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
