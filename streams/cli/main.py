"""The command `judgestream`: it finds its subcommands by name and loads only the one that runs."""

from __future__ import annotations

import logging
import sys
from importlib import import_module

import click

from streams.cli.groups import SuggestingGroup
from streams.errors import JudgestreamError

# name: (module, one line of help); the module has the click command as `command`.
COMMANDS = {
    "demo": "A simulated crowd works through a WMT competition; no server needed.",
    "rank": "Rank the systems of a log by any model; no server needed.",
    "clusters": "Rank the systems of a log by the official WMT procedure, with clusters.",
    "headtohead": "Every system of a log against every other one, with sign tests.",
    "agreement": "How far the judges of a log agree, with each other and with themselves.",
    "evaluate": "Run the experiments of the papers on a log.",
    "convert": "Turn a log of one format into another.",
    "replay": "Play a log in a file into Kafka, or through the same code without servers.",
    "simulate": "A crowd that answers a campaign's match requests.",
    "leaderboard": "Show the leaderboard of a campaign, with its state.",
    "watch": "Watch the leaderboard of a campaign as it changes.",
    "judges": "Report on the judges of a campaign.",
    "segments": "List the segments of a campaign.",
    "pairs": "Show how the systems of a campaign fared against each other.",
    "campaign": "Open, change, watch over and close campaigns.",
    "rejected": "List the records that were not applied, or send them again.",
    "rebuild": "Rate campaigns again from the log, beside the live state, and swap it in.",
    "worker": "Run a worker: Kafka in, Redis and Kafka out.",
    "monitor": "Serve a live page, an HTTP door for judgments, and metrics.",
    "topics": "Check the Kafka topics, or create them.",
    "completion": "Print the script by which a shell completes commands.",
    "doctor": "Say what is reachable, what is missing and how to fix it.",
}


class LazyGroup(SuggestingGroup):
    """A group whose commands are modules, imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"streams.cli.commands.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"judgestream {version('judgestream')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
def cli() -> None:
    """Turn a stream of human judgments into live, trustworthy rankings.

    The first minute: judgestream demo
    """


def main() -> None:
    """Run the command line; what went wrong is one line on standard error and exit code 1, wrong use is 2."""
    # Without a handler of its own aiokafka writes what we say in our words already.
    logging.getLogger("aiokafka").addHandler(logging.NullHandler())
    try:
        cli(prog_name="judgestream")
    except JudgestreamError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
