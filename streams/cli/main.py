"""The command `judgestream`. It imports only the module of the subcommand that runs."""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module

import click

from streams.cli.groups import ARGUMENTS, SuggestingGroup
from streams.cli.importing import without_collecting
from streams.errors import JudgestreamError
from streams.quoting import safe_lines

# Before numpy is loaded: the matrices are small, and threads that wait for each other take more time than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The sections of `judgestream --help`. A command `head-to-head` is `command` in the module commands/head_to_head.py.
SECTIONS = {
    "Files (no server needed)": {
        "rank": "Rank the systems of a log with any model.",
        "diff": "Compare two leaderboards: what moved, and what is more than chance.",
        "models": "List the models that `rank` takes, and their parameters.",
        "clusters": "Rank the systems of a log by the official WMT procedure.",
        "head-to-head": "Compare every pair of systems of a log, with sign tests.",
        "agreement": "Measure how well the judges of a log agree.",
        "describe": "Count systems, rankings and judges of each campaign of a log.",
        "baseline": "Choose the baseline system for the graded response model.",
        "measure": "Measure predictions against gold values in a table.",
        "convert": "Convert a log from one format to another.",
        "audit": "Compare the ratings of a log with those of the trueskill package.",
        "bench": "Measure how fast this machine rates judgments.",
    },
    "Campaigns": {
        "campaign": "Create, change, pause and close campaigns.",
        "leaderboard": "Show the leaderboard and the state of a campaign.",
        "watch": "Follow the leaderboard of a campaign as it changes.",
        "judges": "Report on the judges of a campaign.",
        "segments": "List the segments of a campaign.",
        "pairs": "Compare every pair of systems of a campaign.",
        "rejected": "List rejected records, or send them again.",
        "replay": "Publish a log to Kafka, or rate it without servers.",
        "gaps": "List records that were deleted unread, or go on without them.",
        "rebuild": "Rebuild the state in Redis from the log in Kafka.",
        "copy-log": "Copy the log without ids and forgotten judges.",
    },
    "Services": {
        "worker": "Rate judgments from Kafka and keep the state in Redis.",
        "monitor": "Run the web page, the HTTP API and the metrics.",
        "token": "Make a token for a client of the monitor.",
        "topics": "Check the Kafka topics, or create them.",
        "doctor": "Check that a worker can run; show how to fix problems.",
        "completion": "Print the completion script for a shell.",
    },
    "Lab": {
        "demo": "Watch a simulated crowd rank systems (no server needed).",
        "simulate": "Answer the match requests of a campaign with simulated judges.",
        "evaluate": "Run the experiments of the papers on a log.",
    },
}
COMMANDS = {name: about for section in SECTIONS.values() for name, about in section.items()}
OLD_NAMES = {"headtohead": "head-to-head"}  # accepted for one more version, not listed


class LazyGroup(SuggestingGroup):
    """A group whose commands are modules, imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command. Return None if there is no command of this name."""
        name = OLD_NAMES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        with without_collecting():
            command: click.Command = import_module(f"streams.cli.commands.{name.replace('-', '_')}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the command line as it was given: a message may propose it with other options."""
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command. What its error says is escaped: it may contain names of a file."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.message = safe_lines(error.message)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands by section, without importing them."""
        width = max(map(len, COMMANDS))
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), about) for name, about in commands.items()])


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

    Start with: judgestream demo
    """


def main() -> None:
    """Run the command line. An error is one line on standard error with exit code 1; wrong use has exit code 2."""
    # Without a handler, aiokafka would print the same errors a second time.
    logging.getLogger("aiokafka").addHandler(logging.NullHandler())
    try:
        cli(prog_name="judgestream")
    except JudgestreamError as error:
        click.echo(f"Error: {safe_lines(str(error))}", err=True)
        sys.exit(1)
