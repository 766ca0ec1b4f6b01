"""Rankings in texts: systems as a|b+c, and their ranks as 1|2."""

from __future__ import annotations

from typing import Any

from streams.compiler import inlined, jit
from streams.wire.limits import MAX_NAME, MAX_RANK, MAX_RANKED
from streams.wire.scanner.kernels.hash_tables import FULL, number_name
from streams.wire.scanner.kernels.id_texts import is_odd
from streams.wire.scanner.kernels.text import UNUSUAL, ZERO, read_digits

SEPARATOR = 124  # between outputs, ranks, and the parts of the text whose digest is in the id
SHARING = 43  # between systems that share an output
_RANK_DIGITS = 7


@jit
def read_ranking(
    data: Any,
    i: int,
    end: int,
    rank_begin: int,
    rank_end: int,
    count: int,
    systems: Any,
    ranks: Any,
    seed: Any,
    slots: Any,
    hashes: Any,
    ends: Any,
    words: Any,
    used: Any,
) -> int:
    """Read the systems of a text as a|b+c, with the ranks of a text as 1|2. Return their end, UNUSUAL or FULL."""
    first, r = count, rank_begin
    while True:
        digits = r
        while r < rank_end and data[r] != SEPARATOR:
            r += 1
        rank = read_digits(data, digits, r - digits) if 1 <= r - digits <= _RANK_DIGITS else UNUSUAL
        if not 1 <= rank <= MAX_RANK:
            return UNUSUAL
        while True:
            begin = i
            while i < end and data[i] != SEPARATOR and data[i] != SHARING:
                i += 1
            if not 0 < i - begin <= MAX_NAME or is_odd(data, begin, i):
                return UNUSUAL
            if count == len(systems) or count - first == MAX_RANKED:
                return UNUSUAL
            name = number_name(data, begin, i, seed, slots, hashes, ends, words, used)
            if name < 0:
                return FULL
            for k in range(first, count):
                if systems[k] == name:
                    return UNUSUAL
            systems[count], ranks[count] = name, rank
            count += 1
            i += 1
            if i > end or data[i - 1] == SEPARATOR:
                break
        r += 1
        if i > end or r > rank_end:
            return count if i > end and r > rank_end and count - first > 1 else UNUSUAL


@inlined
def has_leading_zero(data: Any, begin: int, end: int) -> bool:
    """Return whether one of the ranks of a text as 1|2 begins with a zero. Its digest is that of the number."""
    is_first, found = True, False
    for i in range(begin, end):
        found = found or (is_first and data[i] == ZERO)
        is_first = data[i] == SEPARATOR
    return found
