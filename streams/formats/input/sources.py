"""Open a log: a file, standard input or a stream."""

from __future__ import annotations

import io
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from streams.errors import FormatError
from streams.formats.input.compression import decompressed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import WriteableBuffer

STDIN = "-"
HEAD = 2**16  # bytes that are inspected to recognise a format

_BOM = b"\xef\xbb\xbf"
_CHUNK = 2**20


class Source:
    """The decompressed content of a log. `head` is its beginning, which `read` returns again."""

    def __init__(self, name: str, stream: BinaryIO, *, path: Path | None, position: Callable[[], int]) -> None:
        head = b""
        while len(head) < HEAD and (more := stream.read(HEAD - len(head))):
            head += more
        self.name = name
        self.path = path  # of an uncompressed file; else None
        self.head = head.removeprefix(_BOM)
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
def open_source(source: Path | str | BinaryIO) -> Iterator[Source]:
    """Open a path, `-` for standard input, or a binary stream. Raise FormatError if it can't be read."""
    name = describe_source(source)
    try:
        if isinstance(source, (str, Path)) and name != STDIN:
            with Path(source).open("rb") as file:
                content = decompressed(file)
                path = Path(source) if content is file else None
                yield Source(name, content, path=path, position=file.tell)
        else:
            stream = sys.stdin.buffer if isinstance(source, (str, Path)) else source
            buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(_Joined(b"", stream))
            yield Source(name, decompressed(buffered), path=None, position=lambda: 0)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{name}: can't be read: {error}") from None


def describe_source(source: Path | str | BinaryIO) -> str:
    """Return the name of a source, for messages."""
    if isinstance(source, (str, Path)):
        return str(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else STDIN
