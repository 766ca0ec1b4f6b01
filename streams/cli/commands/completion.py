"""`judgestream completion`: the completion script for a shell."""

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
    """Print the completion script for a shell. It takes effect in a new shell."""
    from click.shell_completion import get_completion_class

    from streams.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "judgestream", "_JUDGESTREAM_COMPLETE").source())
