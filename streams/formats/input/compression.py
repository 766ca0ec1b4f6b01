"""Compression: recognised by the first bytes when reading, chosen by the suffix when writing."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from streams.formats.input import stream_decoders

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES = (".gz", ".zst")

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BZIP2 = b"BZh"
_XZ = b"\xfd7zXZ\0"


def decompressed(stream: io.BufferedReader) -> BinaryIO:
    """Return the decompressed content of a stream, or the stream itself if it is not compressed."""
    start = stream.peek(len(_XZ))
    if start.startswith(_GZIP):
        return cast("BinaryIO", gzip.GzipFile(fileobj=stream, mode="rb"))
    if start.startswith(_ZSTD):
        from streams.formats.input import zstd

        return zstd.open_reader(stream)
    if start.startswith(_BZIP2) and start[3:4].isdigit():
        return stream_decoders.open_bzip2(stream)
    if start.startswith(_XZ):
        return stream_decoders.open_xz(stream)
    return stream


@contextmanager
def compressing(stream: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Yield a stream that compresses into another one, by the suffix of the path. The other one stays open."""
    if path.suffix == ".gz":
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", compresslevel=6, mtime=0) as out:
            yield cast("BinaryIO", out)
    elif path.suffix == ".zst":
        from streams.formats.input import zstd

        with zstd.open_writer(stream) as compressed:
            yield compressed
    else:
        yield stream
