"""Output on a terminal: escaped text, questions, tables and numbers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from streams.quoting import safe as safe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

INTERRUPTED = 130  # the exit code after Ctrl-C, as in a shell
WIDEST_LINE = 10_000


def refuse_combination(**chosen: object) -> None:
    """Raise UsageError if more than one of some flags is given."""
    flags = [f"--{name}" for name, value in chosen.items() if value]
    if len(flags) > 1:
        raise click.UsageError(f"{', '.join(flags[:-1])} and {flags[-1]} can't be combined; choose one")


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal. Without a terminal, raise UsageError unless `yes` is given."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} There is no terminal to ask on; add --yes to confirm")
    click.confirm(question, abort=True, err=True)


def format_number(value: float | None, form: str) -> str:
    """Format a number, or "-" if it is not known.

    >>> format_number(0.5, ".2f"), format_number(None, ".2f")
    ('0.50', '-')
    """
    return "-" if value is None else format(value, form)


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, wrapped: Collection[str], right: Collection[str] = ()
) -> None:
    """Print columns of escaped text. The columns `wrapped` may break lines on a terminal, but not in a file."""
    from rich.table import Column, Table
    from rich.text import Text

    from streams.cli.render import stdout_console

    console = stdout_console()
    if not console.is_terminal:
        console.width = WIDEST_LINE
    columns = (
        Column(name, no_wrap=name not in wrapped, overflow="fold", justify="right" if name in right else "left")
        for name in headings
    )
    table = Table(*columns, box=None, pad_edge=False, header_style="dim")
    for row in rows:
        table.add_row(*(Text(safe(cell)) for cell in row))
    console.print(table)
