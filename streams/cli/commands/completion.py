"""`judgestream completion`: the script by which a shell completes commands and options."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    epilog="""\b
Examples:
  judgestream completion bash >> ~/.bashrc
  judgestream completion fish > ~/.config/fish/completions/judgestream.fish""",
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(*, shell: str) -> None:
    """Print the script for a shell; it takes effect in a new one."""
    from click.shell_completion import get_completion_class

    from streams.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "judgestream", "_JUDGESTREAM_COMPLETE").source())
