"""`judgestream worker`."""

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
    "max_rejected_in_a_row",
    "max_rejected_share",
    "rejected_window",
    "seed",
    "health_host",
    "health_port",
    "log_level",
    "log_format",
)
def command(settings: Settings) -> None:
    """Run a worker: it rates the judgments of the log, keeps the state in Redis, and emits what comes of them.

    Start as many as you like: they share the campaigns. Each setting can also stand in the environment
    (JUDGESTREAM_KAFKA, ...) or in a TOML file; the secret JUDGESTREAM_JUDGE_KEY only there.
    """
    from streams.worker.run import run

    run(settings)
