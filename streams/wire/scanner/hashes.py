"""Tables of hashes: whether one of many has been seen before, in some nanoseconds each."""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.wire.scanner.lines import hashed, slot_of

SIGNATURES = {
    "hash_texts": "B1 q1 q1",
    "enter_new": "q1 q1 q1 -> q",
    "enter_all": "q1 q1",
    "number_names": "i1 q1 q",
}


@jit
def hash_texts(data: Any, ends: Any, values: Any) -> None:
    """Hash texts that stand one after the other, as `scan_lines` hashes ids."""
    begin = 0
    for k in range(len(ends)):
        values[k] = hashed(data, begin, ends[k])
        begin = ends[k]


@jit
def place_in(table: Any, value: int) -> int:
    """Find where a hash stands, or would; a table holds each plus one, and 0 where there is none."""
    place = slot_of(value, len(table))
    while table[place] != 0 and table[place] != value + 1:
        place = (place + 1) & (len(table) - 1)
    return place


@jit
def enter_new(values: Any, newer: Any, older: Any) -> int:
    """Enter hashes into the newer table, up to the first that stands in one of both; give how many were entered."""
    for k in range(len(values)):
        place = place_in(newer, values[k])
        if newer[place] != 0 or older[place_in(older, values[k])] != 0:
            return k
        newer[place] = values[k] + 1
    return len(values)


@jit
def enter_all(values: Any, newer: Any) -> None:
    """Enter hashes, whether they stand there or not."""
    for k in range(len(values)):
        newer[place_in(newer, values[k])] = values[k] + 1


@jit
def number_names(slots: Any, hashes: Any, count: int) -> None:
    """Fill a table of names anew: the number of each at the place of its hash."""
    for number in range(count):
        place = slot_of(hashes[number], len(slots))
        while slots[place] >= 0:
            place = (place + 1) & (len(slots) - 1)
        slots[place] = number
