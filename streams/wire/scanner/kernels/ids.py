"""The loop that copies the ids of scanned judgments, and computes their checksums on the way."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from streams.compiler import jit
from streams.wire.scanner.kernels.text import LINE_FEED

SIGNATURES = {"copy_ids": "B1 q1 q1 B1 q1 -> q"}

_32_BITS = 2**32 - 1
# What CRC-32 does with each byte, taken from zlib: the checksum of a byte, without the first and last inversion.
_CRC = np.array([crc32(bytes([byte ^ 0xFF]), 0) ^ crc32(b"\xff", 0) for byte in range(256)], np.int64)


@jit
def copy_ids(data: Any, begins: Any, ends: Any, texts: Any, checksums: Any) -> int:
    """Copy ids one after the other, each with a line feed after it, and compute their CRC-32. Return the size."""
    size = 0
    for k in range(len(begins)):
        checksum = _32_BITS
        for i in range(begins[k], ends[k]):
            byte = np.int64(data[i])
            texts[size] = byte
            size += 1
            checksum = _CRC[(checksum ^ byte) & 255] ^ (checksum >> 8)
        texts[size] = LINE_FEED
        size += 1
        checksums[k] = checksum ^ _32_BITS
    return size
