"""Options for reading a log: its format or columns, its encoding, bad rows and the part to read."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

import click

from streams.cli.groups import ARGUMENTS
from streams.quoting import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from streams.formats import UnknownFormat


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """The options of `reading_options`, as they were given."""

    from_name: str | None = None
    columns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    encoding: str | None = None
    on_error: str = "stop"
    shared_ties: bool = True
    references: bool = True
    only: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None


def reading_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options for reading a log to a command, which gets the ReadingOptions `options`."""

    @wraps(function)
    def run(
        *,
        from_name: str | None,
        columns: tuple[str, ...],
        values: tuple[str, ...],
        encoding: str | None,
        on_error: str,
        shared_ties: bool,
        references: bool,
        only: tuple[str, ...],
        since: str | None,
        until: str | None,
        **more: object,
    ) -> None:
        options = ReadingOptions(
            from_name=from_name,
            columns=columns,
            values=values,
            encoding=encoding,
            on_error=on_error,
            shared_ties=shared_ties,
            references=references,
            only=only,
            since=since,
            until=until,
        )
        function(options=options, **more)

    decorated: Callable[..., None] = run
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


_OPTIONS = (
    click.option("--from", "from_name", metavar="FORMAT", help="Format of the log.  [default: by its content]"),
    click.option(
        "--columns",
        multiple=True,
        metavar="ROLE=COLUMN,...",
        help="Columns of any table, e.g. a=model_1,b=model_2,winner=vote,judge=rater; @FILE is TOML.",
    ),
    click.option(
        "--values",
        multiple=True,
        metavar="MEANING=VALUE,...",
        help="Values of the winner with --columns, e.g. a=left,b=right,tie=both,skip=none.",
    ),
    click.option("--encoding", metavar="NAME", help="Encoding of the text, e.g. latin-1.  [default: UTF-8 or UTF-16]"),
    click.option(
        "--on-error",
        type=click.Choice(["stop", "skip", "report"]),
        default="stop",
        show_default=True,
        help="Action on a bad row: stop, skip and count it, or report and skip it.",
    ),
    click.option(
        "--shared-ties/--no-shared-ties",
        default=True,
        show_default=True,
        help="Tie systems that share one output, or do not compare them.",
    ),
    click.option(
        "--references/--no-references",
        default=True,
        show_default=True,
        help="Rank human references in files of scores, or leave them out.",
    ),
    click.option(
        "--only",
        multiple=True,
        metavar="NAME=VALUE",
        help="Part to read: judge, segment, source, system or tag.NAME=VALUE; !=VALUE; =@FILE; may be repeated.",
    ),
    click.option(
        "--since",
        metavar="TIME|NUMBER",
        help="First time to read, as ISO date or time, UTC without a zone; or the judgments to leave out first.",
    ),
    click.option(
        "--until",
        metavar="TIME|NUMBER",
        help="Last time to read, inclusive; a date is its end in UTC. Or the number of judgments to read.",
    ),
)


def propose_command(error: UnknownFormat, files: Sequence[Path]) -> click.ClickException:
    """Return an error with the command that was called and the likeliest format, or mapping of the columns."""
    from streams.formats import STDIN

    context = click.get_current_context()
    arguments = context.meta.get(ARGUMENTS)
    given = ["judgestream", *arguments] if arguments else [*context.command_path.split(), *map(str, files)]
    if not any(parameter.name == "columns" for parameter in context.command.params):
        given = ["judgestream", "convert", *map(str, files), "log.jsonl"]  # which the command can read
    if STDIN in map(str, files) and "--campaign" not in given:
        given += ["--campaign", "log"]
    if "--from" in given:  # which does not go with --columns
        place = given.index("--from")
        del given[place : place + 2]
    command = " ".join(shlex.quote(safe(part)) for part in [*given, *error.options])
    lead = "If it is one, the command is"
    if error.mapping:
        lead = "Otherwise name the columns. This is the likeliest command"
    return click.ClickException(f"{error.summary}\n{lead}:\n\n  {command}\n")
