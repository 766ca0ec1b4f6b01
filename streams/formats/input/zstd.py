"""Zstandard files: read and written as streams, with a limit for memory."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, BinaryIO, cast

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, DecompressionParameter, ZstdError, ZstdFile
else:
    from backports.zstd import CompressionParameter, DecompressionParameter, ZstdError, ZstdFile

from streams.formats.limits import MAX_WINDOW_LOG

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER = 2**17


def open_reader(stream: io.BufferedReader) -> BinaryIO:
    """Return the content of all frames in a stream. Broken data raises EOFError when it is read."""
    return io.BufferedReader(_FrameReader(stream), _BUFFER)


def open_writer(stream: BinaryIO) -> BinaryIO:
    """Return a stream that compresses into another one. Closing it leaves the other one open."""
    return cast("BinaryIO", ZstdFile(stream, "wb", options={CompressionParameter.checksum_flag: 1}))


class _FrameReader(io.RawIOBase):
    def __init__(self, stream: io.BufferedReader) -> None:
        options: dict[int, int] = {DecompressionParameter.window_log_max: MAX_WINDOW_LOG}
        self._file = ZstdFile(_AvailableBytes(stream), options=options)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            return self._file.readinto1(buffer)
        except ZstdError as error:
            raise EOFError(f"broken zstd data: {error}") from None


class _AvailableBytes(io.RawIOBase):
    """A stream whose `read` does not wait until there are as many bytes as were asked for."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._stream.read1(size)
