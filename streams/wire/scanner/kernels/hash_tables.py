"""Hash tables in arrays: the numbers of names, and the hashes of recent ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import inlined, jit
from streams.wire.scanner.kernels.text import word_at

FULL = -2  # returned instead of a number if a table must grow
_1 = np.uint64(1)
_63_BITS = np.uint64(2**63 - 1)
_32_BITS = np.int64(2**32 - 1)
_IGNORED = np.uint64(8)  # the lowest bits of the sum: they are the least random
_GOOD_BITS = 23  # the bits from this one on are random in pairs, so they choose the slot

SIGNATURES = {
    "hash_texts": "B1 q1 q1 q1",
    "insert_new": "q1 q1 q1 -> q",
    "insert_all": "q1 q1",
    "rebuild_slots": "i1 q1 q",
    "number_names": "B1 q1 q1 q1 i1 q1 q1 q1 q1 -> q",
}


@inlined
def hash_text(data: Any, begin: int, end: int, seed: Any) -> Any:
    """Return a hash of 55 bits. Whoever does not know the seed can't choose texts that collide.

    This is the pair-multiply-shift scheme of Dietzfelbinger, with two numbers of the seed for each eight bytes. The
    length of the seed is a power of two. A text for which it is too short uses it again from the start.
    """
    last = len(seed) - 1
    total = np.uint64(seed[last]) * np.uint64(end - begin)
    k = 0
    for i in range(begin, end, 8):
        word = word_at(data, i, end - i)
        low, high = np.uint64(word & _32_BITS), np.uint64((word >> 32) & _32_BITS)
        total += (np.uint64(seed[k & last]) + low) * (np.uint64(seed[(k + 1) & last]) + high)
        k += 2
    return np.int64((total & _63_BITS) >> _IGNORED)


@jit
def hash_texts(data: Any, ends: Any, values: Any, seed: Any) -> None:
    """Fill `values` with the hashes of texts that follow each other without a gap."""
    begin = 0
    for k in range(len(ends)):
        values[k] = hash_text(data, begin, ends[k], seed)
        begin = ends[k]


@inlined
def first_slot(value: int, slots: int) -> int:
    """Return the slot where the search for a hash begins. The number of slots is a power of two."""
    return (value >> _GOOD_BITS) & (slots - 1)


@inlined
def number_name(
    data: Any, begin: int, end: int, seed: Any, slots: Any, hashes: Any, ends: Any, words: Any, used: Any
) -> int:
    """Return the number of a name. A new name gets the next number, or FULL if there is no room for it.

    `words` holds all names, each padded with zero bytes, which no name contains.
    """
    value = hash_text(data, begin, end, seed)
    size = (end - begin + 7) // 8
    last = np.uint64(len(slots) - 1)  # an unsigned index needs fewer checks
    slot = np.uint64(first_slot(value, len(slots)))
    while slots[slot] >= 0:
        known = np.uint64(slots[slot])
        if hashes[known] == value:
            first = ends[known]
            if ends[known + _1] - first == size:
                k = 0
                while k < size and words[first + k] == word_at(data, begin + 8 * k, end - begin - 8 * k):
                    k += 1
                if k == size:
                    return int(known)
        slot = (slot + _1) & last
    return add_name(data, begin, end, value, int(slot), slots, hashes, ends, words, used)


@jit
def add_name(
    data: Any,
    begin: int,
    end: int,
    value: int,
    slot: int,
    slots: Any,
    hashes: Any,
    ends: Any,
    words: Any,
    used: Any,
) -> int:
    """Add a name whose hash has no other slot yet. Return its number or FULL."""
    number, size = used[0], (end - begin + 7) // 8
    first = ends[number]
    if number >= len(hashes) or first + size > len(words):
        return FULL
    for k in range(size):
        words[first + k] = word_at(data, begin + 8 * k, end - begin - 8 * k)
    hashes[number], ends[number + 1], slots[slot], used[0] = value, first + size, number, number + 1
    return int(number)


@jit
def number_names(
    data: Any, text_ends: Any, numbers: Any, seed: Any, slots: Any, hashes: Any, ends: Any, words: Any, used: Any
) -> int:
    """Fill `numbers` with those of names that follow each other without a gap. Return FULL if there is no room."""
    begin = 0
    for k in range(len(text_ends)):
        numbers[k] = number_name(data, begin, text_ends[k], seed, slots, hashes, ends, words, used)
        if numbers[k] < 0:
            return FULL
        begin = text_ends[k]
    return 0


@jit
def rebuild_slots(slots: Any, hashes: Any, count: int) -> None:
    """Fill an empty table of slots with the numbers of all names."""
    for number in range(count):
        slot = first_slot(hashes[number], len(slots))
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = number


@inlined
def find_slot(table: Any, value: int) -> int:
    """Return the slot of a hash, or the free slot for it. A slot holds the hash plus one, or 0 if it is free."""
    slot = first_slot(value, len(table))
    while table[slot] != 0 and table[slot] != value + 1:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@jit
def insert_new(values: Any, newer: Any, older: Any) -> int:
    """Insert hashes into `newer` if neither table holds one. Return the place of the first one that is known."""
    for k in range(len(values)):
        slot = find_slot(newer, values[k])
        if newer[slot] != 0 or older[find_slot(older, values[k])] != 0:
            for last in range(k - 1, -1, -1):  # in this order no search for a hash meets a gap
                newer[find_slot(newer, values[last])] = 0
            return k
        newer[slot] = values[k] + 1
    return len(values)


@jit
def insert_all(values: Any, table: Any) -> None:
    """Insert hashes that the table may already hold."""
    for k in range(len(values)):
        table[find_slot(table, values[k])] = values[k] + 1
