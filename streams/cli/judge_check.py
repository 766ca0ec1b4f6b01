"""The exact tests of judges on the command line: on the log of a running campaign, or on a file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from streams.cli.terminal import confirm, print_table, safe
from streams.errors import RecordError

if TYPE_CHECKING:
    from pathlib import Path

    from streams.core.judges import JudgeReport
    from streams.settings import Settings

MOST_AT_ONCE = 1000  # judges in one command
TIMEOUT = 30.0  # seconds to wait for the answer of a worker


def check_file(file: Path) -> dict[str, JudgeReport]:
    """Return the report on the judges of each campaign in a file."""
    from streams.cli.log_campaigns import logs_by_campaign
    from streams.cli.log_options import LogFile
    from streams.core.judges import Votes, examine_judges

    logs = logs_by_campaign(LogFile(file), only=())
    return {name: examine_judges(Votes.of(log)) for name, log in sorted(logs.items())}


def check_campaign(settings: Settings, campaign: str) -> JudgeReport:
    """Return the report on the judges of a running campaign, from its log in Kafka."""
    from streams.cli.stored_campaign import open_store
    from streams.core.campaign.pseudonyms import Pseudonyms
    from streams.kafka.admin import count_log_partitions
    from streams.kafka.partitioned_log import PartitionedLog
    from streams.kafka.partitions import partition_of
    from streams.pipeline.judge_check import check_judges

    with open_store(settings) as store:
        meta = store.read_meta(campaign)
    if meta is None:
        raise click.ClickException(f"no campaign {campaign!r}; list them with: judgestream campaign show")
    number = partition_of(campaign, count_log_partitions(settings))
    with PartitionedLog.open(settings) as log:
        return check_judges(
            log.read(number, 0, log.end(number)),
            campaign,
            pseudonyms=Pseudonyms(settings.judge_key.encode()),
            retracted=meta.retractions.ids,
            max_bytes=settings.max_record_bytes,
        )


def plain_report(report: JudgeReport) -> dict[str, object]:
    """Return a report as JSON has it."""
    import msgspec

    fields: dict[str, object] = msgspec.to_builtins(report)
    fields["alarms"] = [{**msgspec.to_builtins(alarm), "message": alarm.message} for alarm in report.alarms]
    return fields


def print_report(name: str, report: JudgeReport) -> None:
    """Print who is flagged and why, and what concerns all judges."""
    from streams.core.judges import judge_cautions

    click.echo(f"{safe(name)}: {report.judges:,} judges, {report.tested:,} of them with enough votes for a test")
    click.echo(report.power.message)
    if report.flagged:
        rows = [
            (judge.judge, f"{judge.judgments:,}", "; ".join(reason.message for reason in judge.reasons[:2]))
            for judge in sorted(report.flagged, key=lambda each: -each.reasons[0].strength)
        ]
        print_table(("judge", "judgments", "why"), rows, wrapped=["why"], right=["judgments"])
    for caution in judge_cautions(report):
        if caution.code != "flagged_judges":
            click.echo(safe(f"! {caution.message}"))
    if not report.flagged:
        click.echo("no judge is flagged")
    else:
        count = "1 judge is" if len(report.flagged) == 1 else f"{len(report.flagged):,} judges are"
        click.echo(f"{count} flagged. A flag is a reason to check a judge, not a proof.")


def suspend_flagged(settings: Settings, campaign: str, report: JudgeReport, *, yes: bool) -> None:
    """Send the command that suspends the judges whose votes are flagged, after a question."""
    from streams.cli.campaign_commands import check_command
    from streams.cli.stored_campaign import open_store
    from streams.core.campaign.pseudonyms import MARK
    from streams.kafka.commands import send_command
    from streams.wire.events import SuspendJudges

    with open_store(settings) as store:
        meta = store.read_meta(campaign)
    known = frozenset() if meta is None else frozenset((*meta.status.suspended, *meta.status.excluded))
    found = [judge for judge in report.flagged if judge.by_votes and judge.judge not in known]
    if not found:
        click.echo("there is nobody to suspend")
        return
    votes = sum(judge.judgments for judge in found)
    who = "1 judge" if len(found) == 1 else f"{len(found):,} judges"
    confirm(f"{campaign}: leave out the {votes:,} judgments of {who}, until they are reinstated?", yes=yes)
    for start in range(0, len(found), MOST_AT_ONCE):
        wanted = SuspendJudges(
            id=str(uuid4()),
            campaign=campaign,
            at=datetime.now(UTC),
            judges=tuple(MARK + judge.judge for judge in found[start : start + MOST_AT_ONCE]),
            reason="flagged by judgestream judges --check",
        )
        try:
            send_command(settings, check_command(wanted, settings), timeout=TIMEOUT)
        except RecordError as error:
            raise click.ClickException(safe(f"refused ({error.reason}): {error.message}")) from None
    click.echo(f"✓ suspended {who}; undo it with: judgestream campaign reinstate {campaign} --judge PSEUDONYM")
