"""Open a log: a file, standard input, a stream or a file in a zip archive. Its content is decompressed, as UTF-8."""

from __future__ import annotations

import io
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from streams.errors import FormatError
from streams.formats.input.archives import (
    EMPTY_MAGIC,
    MAGIC,
    is_workbook,
    member_names,
    open_archive,
    open_member,
)
from streams.formats.input.compression import decompressed
from streams.formats.input.containers import foreign_container
from streams.formats.input.encodings import as_utf8, guess_utf16
from streams.formats.input.workbooks import open_workbook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import WriteableBuffer

STDIN = "-"
HEAD = 2**16  # bytes that are inspected to recognise a format

PARQUET = b"PAR1"  # the first bytes of a file that is not text

_BOM = b"\xef\xbb\xbf"
_CHUNK = 2**20


class Source:
    """The decompressed content of a log. `head` is its beginning, which `read` returns again."""

    def __init__(
        self,
        name: str,
        stream: BinaryIO,
        *,
        path: Path | None,
        position: Callable[[], int],
        encoding: str | None = None,
        note: str | None = None,
    ) -> None:
        head = _read_head(stream)
        if what := foreign_container(head):
            raise FormatError(f"{name}: {what}")
        if not head.startswith(PARQUET) and (encoding or (encoding := guess_utf16(head))):
            stream = as_utf8(io.BufferedReader(_Joined(head, stream)), encoding)
            head = _read_head(stream)
        self.name = name
        self.path = path  # of an uncompressed file; else None
        self.head = head.removeprefix(_BOM)
        self.note = note  # what the reader should know
        self.position = position  # in the file, before decompression
        self._stream = io.BufferedReader(_Joined(self.head, stream), _CHUNK)

    def read(self) -> bytes:
        """Return the bytes that are available, up to 1 MiB. No bytes mean the end."""
        return self._stream.read1(_CHUNK)

    def readline(self, limit: int) -> bytes:
        """Return the rest of the line, but at most `limit` bytes."""
        return self._stream.readline(limit)


class _Joined(io.RawIOBase):
    """The head of a stream, followed by the rest of the stream."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        if self._head:
            data, self._head = self._head[: len(view)], self._head[len(view) :]
        else:
            read = getattr(self._stream, "read1", self._stream.read)  # available bytes, without waiting for more
            data = read(len(view))
        view[: len(data)] = data
        return len(data)


@contextmanager
def open_source(
    source: Path | str | BinaryIO, *, member: str | None = None, encoding: str | None = None
) -> Iterator[Source]:
    """Open a path, `-` for standard input, or a binary stream. Raise FormatError if it can't be read.

    `member` is the name of a file in a zip archive, which is needed if there are several.
    """
    name = describe_source(source)
    try:
        if isinstance(source, (str, Path)) and name != STDIN:
            with Path(source).open("rb") as file:
                content = decompressed(file)
                path = Path(source) if content is file else None
                with _unzipped(content, name, member, is_plain=path is not None) as (stream, part, note):
                    path = path if stream is content else None
                    yield Source(part, stream, path=path, position=file.tell, encoding=encoding, note=note)
        else:
            found = sys.stdin.buffer if isinstance(source, (str, Path)) else source
            buffered = found if isinstance(found, io.BufferedReader) else _buffered(found)
            content = decompressed(buffered)
            is_plain = content is buffered and buffered.seekable()
            with _unzipped(content, name, member, is_plain=is_plain) as (stream, part, note):
                yield Source(part, stream, path=None, position=lambda: 0, encoding=encoding, note=note)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{name}: can't be read: {error}") from None


@contextmanager
def _unzipped(
    stream: BinaryIO, name: str, member: str | None, *, is_plain: bool
) -> Iterator[tuple[BinaryIO, str, str | None]]:
    """Yield the content of a file in a zip archive or of a workbook, its name and a note, or the stream itself."""
    if not is_archive(stream):
        yield stream, name, None
        return
    if not is_plain:
        raise FormatError(f"{name}: zip and xlsx are read from a plain file, neither a stream nor compressed again")
    with open_archive(stream, name) as archive:
        if is_workbook(archive):
            sheet, note = open_workbook(archive, name)
            yield sheet, name, note
            return
        names = member_names(archive, name)
        if member is None and len(names) > 1:
            raise FormatError(f"{name}: the zip archive has {len(names)} files; unpack the one to read")
        chosen = member or names[0]
        with open_member(archive, chosen, name) as content:
            yield decompressed(_buffered(content)), f"{name}/{chosen}", None


def is_archive(stream: BinaryIO) -> bool:
    """Return whether a stream begins as a zip archive. Nothing is consumed."""
    peek = getattr(stream, "peek", None)
    return peek is not None and peek(4)[:4] in (MAGIC, EMPTY_MAGIC)


def _buffered(stream: BinaryIO) -> io.BufferedReader:
    return io.BufferedReader(_Joined(b"", stream))


def _read_head(stream: BinaryIO) -> bytes:
    head = b""
    while len(head) < HEAD and (more := stream.read(HEAD - len(head))):
        head += more
    return head


def describe_source(source: Path | str | BinaryIO) -> str:
    """Return the name of a source, for messages."""
    if isinstance(source, (str, Path)):
        return str(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else STDIN
