"""Foreign text on a terminal, questions on it, and tables of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

WIDEST_LINE = 10_000


def safe(text: str) -> str:
    r"""Escape what a terminal would obey or hide.

    >>> print(safe("red \x1b[31m, \u202e"))
    red \x1b[31m, \u202e
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal; elsewhere nobody can answer, so `--yes` is needed."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} There is no terminal to ask on: add --yes to do it")
    click.confirm(question, abort=True, err=True)


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, wrapped: Collection[str], right: Collection[str] = ()
) -> None:
    """Print foreign text in columns, made safe; some are wrapped on a terminal, and none in a file."""
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
