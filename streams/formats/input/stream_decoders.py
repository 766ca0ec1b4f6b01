"""Read bzip2 and xz as streams, with a limit for memory. A file may consist of several compressed streams."""

from __future__ import annotations

import bz2
import io
import lzma
from typing import TYPE_CHECKING, BinaryIO

from streams.formats.limits import MAX_XZ_MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import WriteableBuffer

_BUFFER = 2**17


def open_bzip2(stream: io.BufferedReader) -> BinaryIO:
    """Return the content of a bzip2 stream. Broken data raises EOFError when it is read."""
    return io.BufferedReader(_StreamReader(stream, bz2.BZ2Decompressor, "bzip2"), _BUFFER)


def open_xz(stream: io.BufferedReader) -> BinaryIO:
    """Return the content of an xz stream. Broken data raises EOFError when it is read."""

    def new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)

    return io.BufferedReader(_StreamReader(stream, new, "xz"), _BUFFER)


class _StreamReader(io.RawIOBase):
    def __init__(
        self,
        stream: io.BufferedReader,
        new: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor],
        name: str,
    ) -> None:
        self._stream, self._new, self._name = stream, new, name
        self._decompressor = new()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = b""
        while not data:
            waiting = b""
            if self._decompressor.eof:
                waiting = self._decompressor.unused_data.lstrip(b"\0") or self._stream.read1(_BUFFER).lstrip(b"\0")
                if not waiting and not self._stream.peek(1):
                    return 0
                self._decompressor = self._new()
            elif self._decompressor.needs_input:
                waiting = self._stream.read1(_BUFFER)
                if not waiting:
                    raise EOFError(f"the {self._name} data ends too early")
            try:
                data = self._decompressor.decompress(waiting, len(view))
            except lzma.LZMAError as error:
                raise EOFError(f"broken {self._name} data: {error}") from None
            except (OSError, ValueError) as error:
                raise EOFError(f"broken {self._name} data: {error}") from None
        view[: len(data)] = data
        return len(data)
