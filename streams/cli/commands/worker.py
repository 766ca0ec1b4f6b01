"""`judgestream worker`: rates judgments from Kafka and keeps the state in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.options import with_settings

if TYPE_CHECKING:
    from streams.settings import Settings


@click.command(
    "worker",
    epilog="\b\nExample:\n  JUDGESTREAM_JUDGE_KEY=$(openssl rand -hex 32) judgestream worker --kafka 127.0.0.1:9092",
)
@with_settings(
    "kafka",
    "redis",
    "namespace",
    "batch_records",
    "batch_seconds",
    "snapshot_seconds",
    "snapshot_judgments",
    "session_timeout_seconds",
    "max_record_bytes",
    "seen_ids",
    "unknown_campaign",
    "max_undecodable_in_a_row",
    "max_undecodable_share",
    "undecodable_window",
    "seed",
    "health_host",
    "health_port",
    "log_level",
    "log_format",
)
def command(settings: Settings) -> None:
    """Run a worker: rate judgments from Kafka, keep the state in Redis, and publish the results.

    You can start any number of workers; they share the campaigns. A setting can also be an environment variable
    (JUDGESTREAM_KAFKA, ...) or be in a TOML file. The secret JUDGESTREAM_JUDGE_KEY has no flag.
    """
    from streams.worker.run import run

    run(settings)
