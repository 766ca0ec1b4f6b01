"""`judgestream topics`: check the Kafka topics, or create them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from streams.cli.options import with_settings

if TYPE_CHECKING:
    from streams.settings import Settings


@click.command("topics", epilog="\b\nExample:\n  judgestream topics --create --partitions 24")
@click.option("--create", is_flag=True, help="Create the topics that are missing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@with_settings("kafka", "namespace", "partitions", "replication")
def command(settings: Settings, *, create: bool, as_json: bool) -> None:
    """Check the Kafka topics: partitions, retention, compaction, replicas in sync and record sizes.

    Existing topics are never changed: the command that repairs a topic is printed. The exit code is 1 if a topic is
    missing or wrong.
    """
    from streams.kafka.admin import create_topics, inspect_topics
    from streams.wire.events import encode

    created = create_topics(settings) if create else []
    reports = inspect_topics(settings)
    if as_json:
        rows = [
            {
                "name": report.name,
                "exists": report.exists,
                "created": report.name in created,
                "partitions": report.partitions,
                "replication": report.replication,
                "problems": report.problems,
                "repair": report.repair,
            }
            for report in reports
        ]
        click.echo(encode({"topics": rows}))
    else:
        width = max(len(report.name) for report in reports)
        for report in reports:
            state = "created" if report.name in created else "ok" if not report.problems else "; ".join(report.problems)
            size = f"{report.partitions} partitions" if report.exists else ""
            click.echo(f"{'✗' if report.problems else '✓'} {report.name:<{width}}  {size:<14}  {state}")
            if report.repair:
                click.echo(f"  → {report.repair}")
        if any(not report.exists for report in reports):
            click.echo("\nCreate the missing topics with: judgestream topics --create")
    sys.exit(1 if any(report.problems for report in reports) else 0)
