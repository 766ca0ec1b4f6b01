"""The parts of a log: several files, the files of a folder, or those of a zip archive are one log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from streams.errors import FormatError
from streams.formats.input.archives import is_workbook, member_names, open_archive
from streams.formats.input.sources import STDIN, describe_source, is_archive, open_source
from streams.formats.limits import MAX_MEMBERS

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from streams.formats.input.sources import Source

LogSources = Path | str | BinaryIO | Sequence[Path | str]


@dataclass(frozen=True, kw_only=True)
class LogPart:
    """One file of a log."""

    source: Path | str | BinaryIO
    member: str | None = None  # of a zip archive
    group: str | None = None  # the folder or archive, which names the campaign of its files
    size: int = 0  # bytes, of a file; an archive counts once

    def open(self, *, encoding: str | None) -> AbstractContextManager[Source]:
        """Open it."""
        return open_source(self.source, member=self.member, encoding=encoding)


def list_parts(source: LogSources) -> list[LogPart]:
    """Return the parts of a log in their order. Raise FormatError if there are none, or too many."""
    sources = [source] if isinstance(source, (str, Path)) or not isinstance(source, Sequence) else source
    return [part for each in sources for part in _list_parts(each)]


def describe_log(source: LogSources) -> str:
    """Return the name of a log, for messages."""
    if isinstance(source, (str, Path)) or not isinstance(source, Sequence):
        return describe_source(source)
    return str(source[0]) if len(source) == 1 else f"{source[0]} and {len(source) - 1} more"


def _list_parts(source: Path | str | BinaryIO) -> list[LogPart]:
    if not isinstance(source, (str, Path)) or str(source) == STDIN:
        return [LogPart(source=source)]
    path = Path(source)
    if not path.is_dir():
        return _list_file(path, group=None)
    try:
        files = sorted(each for each in path.rglob("*") if not _is_hidden(each, path) and each.is_file())
    except OSError as error:
        raise FormatError(f"{path}: can't be read: {error}") from None
    if not files or len(files) > MAX_MEMBERS:
        raise FormatError(f"{path}: the folder has {len(files):,} files; a log has 1 to {MAX_MEMBERS:,}")
    return [part for file in files for part in _list_file(file, group=path.resolve().name)]


def _list_file(path: Path, *, group: str | None) -> list[LogPart]:
    """Return a file, or the files in it if it is a zip archive. A file that can't be opened is reported later."""
    if not path.is_file():  # a pipe must not be opened twice
        return [LogPart(source=path, group=group)]
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            if not is_archive(stream):
                return [LogPart(source=path, group=group, size=size)]
            with open_archive(stream, str(path)) as archive:
                if is_workbook(archive):
                    return [LogPart(source=path, group=group, size=size)]
                names = member_names(archive, str(path))
    except OSError:
        return [LogPart(source=path, group=group)]
    last = names[-1]
    return [
        LogPart(source=path, member=name, group=group or path.name, size=size if name == last else 0) for name in names
    ]


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)
