"""`judgestream monitor`: the web page, the HTTP API and the metrics."""

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
    "monitor_hosts",
    "monitor_proxies",
    "monitor_body_bytes",
    "monitor_rate",
    "monitor_connections",
    "monitor_connections_per_address",
    "monitor_streams",
    "monitor_streams_per_address",
    "monitor_idle_seconds",
    "monitor_request_seconds",
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
    """Run the web page, the HTTP API for judgments and matches, and the metrics.

    You can start any number of monitors. Workers do not need them. Make tokens with `judgestream token`, and set them
    in JUDGESTREAM_MONITOR_TOKENS, or name a file with one entry per line (@FILE). Matches need the same
    JUDGESTREAM_JUDGE_KEY as the workers. Both have no flag: set them in the environment or in a TOML file.
    """
    from streams.monitor.run import run

    run(settings, ready=lambda url: click.echo(f"The page is at {url}"))
