"""The dictionary page of a Parquet column: how long its longest value is, before pyarrow repeats it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

CODECS = {0: None, 1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}  # by their numbers in a file


def longest_value(page: bytes, unpacked: int, codec: int) -> int:
    r"""Return the bytes of the longest text of a dictionary page, which unpacks to this many bytes.

    Raise ValueError if it can't be read.

    >>> longest_value(b"\x02\0\0\0ab\x03\0\0\0abc", 13, 0)
    3
    """
    if codec not in CODECS:
        raise ValueError(f"an unknown compression ({codec})")
    data = _decompress(page, unpacked, CODECS[codec])
    place = longest = 0
    while place < len(data):
        size = int.from_bytes(data[place : place + 4], "little")
        longest, place = max(longest, size), place + 4 + size
    if place != len(data):
        raise ValueError("a dictionary whose values do not end with its page")
    return longest


def _decompress(page: bytes, unpacked: int, codec: str | None) -> bytes:
    if codec is None:
        return page
    pyarrow: Any = import_module("pyarrow")
    try:
        found: bytes = pyarrow.decompress(page, decompressed_size=unpacked, codec=codec, asbytes=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"a dictionary that can't be unpacked: {error}") from None
    return found
