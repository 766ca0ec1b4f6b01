"""Files of leaderboards, as commands print them with `--json`. They are told from logs by their beginning."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import msgspec

from streams.errors import FormatError, suggestion
from streams.formats import STDIN
from streams.formats.input.sources import open_source
from streams.reports.notes import board_title
from streams.wire.events import Leaderboard  # noqa: TC001 - msgspec reads the annotation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_BEGINNING = re.compile(rb'\s*\{\s*"campaigns"\s*:')


class _Printed(msgspec.Struct):
    campaigns: list[Leaderboard]


@dataclass(frozen=True)
class LogContent:
    """A file that is no file of leaderboards. Of standard input or a pipe, it has the content: it is read only once."""

    stream: io.BytesIO | None = None


@dataclass(frozen=True)
class BoardFile:
    """The leaderboards of a file, by campaign and category."""

    file: Path
    boards: dict[str, Leaderboard]

    def choose(self, campaigns: Sequence[str]) -> list[Leaderboard]:
        """Return the leaderboards of these campaigns, or all. Raise UsageError if there is none of a campaign."""
        for name in campaigns:
            if name not in self.boards:
                raise click.UsageError(f"{self.file}: no campaign {name!r}; {suggestion(name, self.boards)}")
        return [self.boards[name] for name in campaigns or self.boards]


def open_boards(file: Path) -> BoardFile | LogContent:
    """Read a file of leaderboards, or find out that it is none. Raise FormatError if it can't be read."""
    if str(file) == STDIN or file.is_fifo():
        data = click.get_binary_stream("stdin").read() if str(file) == STDIN else file.read_bytes()
        if not _BEGINNING.match(data):
            return LogContent(io.BytesIO(data))
    else:
        with open_source(file) as source:
            if not _BEGINNING.match(source.head):
                return LogContent()
            data = b"".join(iter(source.read, b""))
    try:
        found = msgspec.json.decode(data, type=_Printed).campaigns
    except (msgspec.MsgspecError, RecursionError) as error:
        raise FormatError(f"{file}: not what `rank --json` prints: {error}") from None
    boards = {board_title(board): board for board in found}
    if not boards:
        raise FormatError(f"{file}: there is no leaderboard in it")
    if len(boards) < len(found):
        raise FormatError(f"{file}: a campaign has two leaderboards")
    for name, board in boards.items():
        if len({row.system for row in board.rows}) < len(board.rows):
            raise FormatError(f"{file}: a system is twice on the leaderboard of {name!r}")
    return BoardFile(file, boards)
