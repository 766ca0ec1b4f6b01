"""The texts of ids: how they are made, copied, and summed up."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from streams.compiler import inlined
from streams.wire.scanner.kernels.text import BACKSLASH, DASH, QUOTE, SPACE, ZERO, put_word, word_at

NUMBER_DIGITS = 10  # of a number that is part of an id without a digest
LONGEST_ID = 19 + 1 + 16  # bytes: a number, a dash and eight bytes in hexadecimal
_LETTER_A = 97
_IS_ODD = np.array([byte < SPACE or byte in (BACKSLASH, QUOTE) for byte in range(256)], np.uint8)
_32_BITS = 2**32 - 1


def _crc_tables() -> Any:
    """Return what CRC-32 does with a byte that has 0 to 7 bytes after it."""
    one = [crc32(bytes([byte ^ 0xFF]), 0) ^ crc32(b"\xff", 0) for byte in range(256)]
    tables = [one]
    for _ in range(7):
        tables.append([one[before & 255] ^ (before >> 8) for before in tables[-1]])
    return np.array(tables, np.int64)


_CRC = _crc_tables()


@inlined
def is_odd(data: Any, begin: int, end: int) -> bool:
    """Return whether a text has a byte that is written with an escape in JSON."""
    odd = 0
    for i in range(np.uint64(begin), np.uint64(end)):
        odd |= _IS_ODD[data[i]]
    return odd != 0


@inlined
def copy_text(source: Any, begin: int, end: int, target: Any, size: int) -> int:
    """Copy a text, eight bytes at a time: up to seven bytes after it are written too. Return its end in the target."""
    for i in range(0, end - begin, 8):
        put_word(target, size + i, word_at(source, begin + i, 8))
    return size + end - begin


@inlined
def write_id(ids: Any, size: int, number: int, digest: Any) -> int:
    """Write an id: the number of the row, a dash, and the digest of its text in hexadecimal. Return its end."""
    size = write_number(ids, size, number)
    ids[size] = DASH
    put_word(ids, size + 1, hexadecimal(np.uint64(digest) & np.uint64(_32_BITS)))
    put_word(ids, size + 9, hexadecimal(np.uint64(digest) >> np.uint64(32)))
    return size + 17


@inlined
def write_number(ids: Any, size: int, number: int) -> int:
    """Write a number. Return its end."""
    digits, limit = 1, 10
    while number >= limit:
        digits, limit = digits + 1, 10 * limit
    for k in range(size + digits - 1, size - 1, -1):
        ids[k] = ZERO + number % 10
        number //= 10
    return size + digits


@inlined
def hexadecimal(word: Any) -> Any:
    """Return the eight digits of four bytes. Each operation is on all digits at once."""
    word = (word | (word << np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    word = (word | (word << np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    low = np.uint64(0x000F000F000F000F)
    word = ((word >> np.uint64(4)) & low) | ((word & low) << np.uint64(8))
    letters = ((word + np.uint64(0x0606060606060606)) >> np.uint64(4)) & np.uint64(0x0101010101010101)
    return np.int64(word + np.uint64(0x3030303030303030) + letters * np.uint64(_LETTER_A - 10 - ZERO))


@inlined
def checksum(data: Any, begin: int, end: int) -> int:
    """Return the CRC-32 of a text. Eight bytes are read at once, then four."""
    found = np.uint64(_32_BITS)
    while end - begin >= 8:
        word = np.uint64(word_at(data, begin, 8)) ^ found
        found = np.uint64(0)
        for k in range(8):
            found ^= np.uint64(_CRC[7 - k, np.int64((word >> np.uint64(8 * k)) & np.uint64(255))])
        begin += 8
    if end - begin >= 4:
        word = np.uint64(word_at(data, begin, 4)) ^ found
        found = np.uint64(0)
        for k in range(4):
            found ^= np.uint64(_CRC[3 - k, np.int64((word >> np.uint64(8 * k)) & np.uint64(255))])
        begin += 4
    for i in range(begin, end):
        found = np.uint64(_CRC[0, np.int64((found ^ np.uint64(data[i])) & np.uint64(255))]) ^ (found >> np.uint64(8))
    return int(np.int64(found) ^ _32_BITS)
