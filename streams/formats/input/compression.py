"""Plain, gzip or zstd: told by the first bytes when reading, by the suffix when writing, and streamed either way."""

from __future__ import annotations

import gzip
import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _typeshed import WriteableBuffer
    from zstandard import ZstdDecompressionObj

SUFFIXES = (".gz", ".zst")

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a first byte of 0x50 to 0x5f
_MAX_WINDOW = 2**27  # bytes that a decompressor may hold: what zstd accepts unless it is told to take more
_BLOCK_KINDS = ("raw", "repeated", "compressed", "reserved")


def decompressed(stream: io.BufferedReader) -> BinaryIO:
    """Look at the first bytes of a stream and give what is in it."""
    magic = stream.peek(len(_ZSTD))
    if magic.startswith(_GZIP):
        return cast("BinaryIO", gzip.GzipFile(fileobj=stream, mode="rb"))
    if magic.startswith(_ZSTD):
        return io.BufferedReader(_Frames(stream), 2**17)
    return stream


@contextmanager
def compressing(stream: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Write to a stream as the suffix of the file's name says; the stream itself stays open."""
    if path.suffix == ".gz":
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", compresslevel=6, mtime=0) as out:
            yield cast("BinaryIO", out)
    elif path.suffix == ".zst":
        import zstandard

        with zstandard.ZstdCompressor(write_checksum=True).stream_writer(stream, closefd=False) as out:
            yield out
    else:
        yield stream


class _Frames(io.RawIOBase):
    """The content of zstd frames, decompressed block by block.

    A block gives 128 KiB at most, so that a bomb only streams; and a frame that breaks off is an error, where the
    library's own reader takes it for the end.
    """

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._left = b""
        self._blocks = self._decompress()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        while not self._left:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._left = block
        size = min(len(view), len(self._left))
        view[:size], self._left = self._left[:size], self._left[size:]
        return size

    def _decompress(self) -> Iterator[bytes]:
        import zstandard

        try:
            while magic := self._stream.read(4):
                if magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:
                    self._skip(int.from_bytes(self._exactly(4), "little"))
                elif magic == _ZSTD:
                    yield from self._frame(zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj())
                else:
                    raise EOFError("something that is not zstd follows the zstd data")
        except zstandard.ZstdError as error:
            raise EOFError(f"broken zstd data: {error}") from None

    def _frame(self, decompressor: ZstdDecompressionObj) -> Iterator[bytes]:
        descriptor = self._exactly(1)
        single = descriptor[0] >> 5 & 1
        header = (not single) + (0, 1, 2, 4)[descriptor[0] & 3] + (single, 2, 4, 8)[descriptor[0] >> 6]
        yield decompressor.decompress(_ZSTD + descriptor + self._exactly(header))
        last = False
        while not last:
            head = self._exactly(3)
            fields = int.from_bytes(head, "little")
            last, kind, size = bool(fields & 1), _BLOCK_KINDS[fields >> 1 & 3], fields >> 3
            yield decompressor.decompress(head + self._exactly(1 if kind == "repeated" else size))
        if descriptor[0] >> 2 & 1:
            yield decompressor.decompress(self._exactly(4))
        if not decompressor.eof:
            raise EOFError("broken zstd data: a frame does not end where it says")

    def _exactly(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise EOFError("the zstd data ends in the middle")
        return data

    def _skip(self, size: int) -> None:
        while size:
            size -= len(self._exactly(min(size, 2**16)))
