"""The digest of one text: BLAKE2b with eight bytes (RFC 7693), as `hashlib.blake2b(digest_size=8)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import inlined, jit
from streams.wire.scanner.kernels.text import word_at

BLOCK = 128  # bytes
_INITIAL = (
    *("6a09e667f3bcc908", "bb67ae8584caa73b", "3c6ef372fe94f82b", "a54ff53a5f1d36f1"),
    *("510e527fade682d1", "9b05688c2b3e6c1f", "1f83d9abfb41bd6b", "5be0cd19137e2179"),
)
IV = np.array([int(word, 16) for word in _INITIAL], np.uint64).view(np.int64)
PARAMETERS = 0x01010008  # one thread, no key, a digest of eight bytes
_ORDER = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    np.int64,
)
# The four words of the state that are mixed: its columns, then its diagonals.
_MIXED = np.array(
    [
        *([0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]),
        *([0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]),
    ],
    np.int64,
)


@jit
def digest_text(data: Any, begin: int, end: int, work: Any) -> Any:
    """Return the digest of a text as a number. `work` holds the chain, the state and the words of a block."""
    for k in range(8):
        work[k] = IV[k]
    work[0] ^= PARAMETERS
    place = begin
    while True:
        is_last = end - place <= BLOCK
        counted = (end if is_last else place + BLOCK) - begin
        for k in range(8):
            work[8 + k], work[16 + k] = work[k], IV[k]
        work[20] ^= counted
        if is_last:
            work[22] = ~work[22]
        for k in range(16):
            left = end - place - 8 * k
            work[24 + k] = word_at(data, place + 8 * k, left) if left > 0 else 0
        for turn in range(12):
            for step in range(8):
                i, j, k, m = 8 + _MIXED[step, 0], 8 + _MIXED[step, 1], 8 + _MIXED[step, 2], 8 + _MIXED[step, 3]
                one, other = work[24 + _ORDER[turn, 2 * step]], work[24 + _ORDER[turn, 2 * step + 1]]
                work[i], work[j], work[k], work[m] = mixed(work[i], work[j], work[k], work[m], one, other)
        for k in range(8):
            work[k] ^= work[8 + k] ^ work[16 + k]
        if is_last:
            return work[0]
        place += BLOCK


@inlined
def mixed(a: Any, b: Any, c: Any, d: Any, one: Any, other: Any) -> tuple[Any, Any, Any, Any]:
    """Return four words of the state after two words of a block were mixed into them."""
    a = a + b + one
    d = rotate(d ^ a, np.uint64(32))
    c = c + d
    b = rotate(b ^ c, np.uint64(24))
    a = a + b + other
    d = rotate(d ^ a, np.uint64(16))
    c = c + d
    return a, rotate(b ^ c, np.uint64(63)), c, d


@inlined
def rotate(word: Any, count: Any) -> Any:
    """Return a word with its bits rotated to the right."""
    bits = np.uint64(word)
    return np.int64((bits >> count) | (bits << (np.uint64(64) - count)))
