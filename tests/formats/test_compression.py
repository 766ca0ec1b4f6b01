"""Compressed logs are read to their end or refused."""

from __future__ import annotations

import io
import os

import pytest
from backports import zstd

from streams.errors import FormatError
from streams.formats.input.sources import open_source

TEXT = b"".join(b"line %d\n" % number for number in range(20_000))
SKIPPABLE = b"\x53\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"


def frame(data: bytes, *, checksum: bool = True, is_size_known: bool = True) -> bytes:
    options: dict[int, int] = {zstd.CompressionParameter.checksum_flag: int(checksum)}
    compressor = zstd.ZstdCompressor(options=options)
    if is_size_known:
        return compressor.compress(data, mode=zstd.ZstdCompressor.FLUSH_FRAME)
    return compressor.compress(data) + compressor.flush()


def read(packed: bytes) -> bytes:
    with open_source(io.BytesIO(packed)) as source:
        return b"".join(iter(source.read, b""))


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("is_size_known", [False, True])
def test_several_frames_are_read_as_one_log(checksum: bool, is_size_known: bool) -> None:
    half = len(TEXT) // 2
    frames = [frame(part, checksum=checksum, is_size_known=is_size_known) for part in (TEXT[:half], b"", TEXT[half:])]
    assert read(b"".join(frames)) == TEXT


def test_skippable_frames_are_skipped() -> None:
    assert read(frame(TEXT[:100]) + SKIPPABLE + SKIPPABLE + frame(TEXT[100:]) + SKIPPABLE) == TEXT


@pytest.mark.parametrize("packed", [frame(b"some lines\n" * 50), frame(b"a\n") + SKIPPABLE + frame(b"b\n" * 9)])
def test_a_frame_that_is_cut_is_refused(packed: bytes) -> None:
    whole = {len(packed), len(frame(b"a\n")), len(frame(b"a\n") + SKIPPABLE)}
    for size in range(4, len(packed)):
        if size not in whole:
            with pytest.raises(FormatError, match="can't be read"):
                read(packed[:size])


def test_other_data_after_a_frame_is_refused() -> None:
    with pytest.raises(FormatError, match="broken zstd data"):
        read(frame(TEXT) + b"something else")


def test_a_wrong_checksum_is_refused() -> None:
    packed = frame(TEXT)
    with pytest.raises(FormatError, match="broken zstd data"):
        read(packed[:-1] + bytes([packed[-1] ^ 1]))


def test_a_frame_is_read_before_the_pipe_ends() -> None:
    out, into = os.pipe()
    with os.fdopen(out, "rb") as pipe, os.fdopen(into, "wb", buffering=0) as writer:
        writer.write(frame(TEXT[: 2**17]))
        from streams.formats.input.compression import decompressed

        assert decompressed(pipe).read(1000) == TEXT[:1000]
