"""`judgestream monitor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from streams.cli.options import with_settings

if TYPE_CHECKING:
    from streams.settings import Settings


@click.command(
    "monitor",
    epilog="""\b
Examples:
  judgestream monitor
  judgestream monitor --host 0.0.0.0 --port 8080 --reads closed""",
)
@with_settings(
    "monitor_host",
    "monitor_port",
    "monitor_reads",
    "monitor_origins",
    "monitor_body_bytes",
    "monitor_rate",
    "monitor_lease_seconds",
    "kafka",
    "redis",
    "namespace",
    "max_record_bytes",
    "log_level",
    "log_format",
    own="monitor_",
)
def command(settings: Settings) -> None:
    """Serve the live page, the HTTP door for judgments and matches, and metrics, beside the workers.

    Start as many as you like; none of them is needed for judgments to be rated. Who may write is set in
    JUDGESTREAM_MONITOR_TOKENS (name:secret, comma-separated); matches are given out only with the workers'
    JUDGESTREAM_JUDGE_KEY. Both are secrets, and stand in the environment or in a TOML file, not in a flag.
    """
    from streams.monitor.run import run

    run(settings, ready=lambda url: click.echo(f"The page is at {url}"))
