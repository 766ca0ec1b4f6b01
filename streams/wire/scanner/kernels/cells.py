"""The loops that read the cells of a table, find equal rows, and join texts to lines.

A cell is the bytes from its begin to before its end. Arrays of begins and ends have one row per column of the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import inlined, jit
from streams.wire.scanner.kernels.hash_tables import FULL, first_slot, number_name
from streams.wire.scanner.kernels.text import LINE_FEED, QUOTE, UNUSUAL

CARRIAGE_RETURN = 13
_1 = np.uint64(1)  # an unsigned index needs fewer checks
# Bytes that end a cell, or make a row unusual. The padding ends the data.
_IS_SPECIAL = np.array([byte in (0, LINE_FEED, CARRIAGE_RETURN, QUOTE) for byte in range(256)], np.bool_)

SIGNATURES = {
    "split_cells": "B1 q q q q1 q2 q2 q1 -> q",
    "number_rows": "B1 q2 q2 q1 q1 i1 q1 q1 q1 q1 i1 q2 q1 q1 q1 -> q",
    "rebuild_groups": "i1 q2 q q1",
    "join_texts": "B1 q2 q2 B1 q1 -> q",
}


@jit
def split_cells(
    data: Any, size: int, delimiter: int, width: int, kept: Any, begins: Any, ends: Any, line_ends: Any
) -> int:
    """Fill the places of the cells of usual rows. Return their number, up to the first row that is not usual.

    A usual row is one line of `width` cells. A cell in quotes has no other quote. `kept` has the row of `begins` and
    `ends` for each column, or -1. `line_ends` gets the end of each line.
    """
    row, i = 0, np.uint64(0)
    stop, comma = np.uint64(size), np.uint8(delimiter)
    while i < stop and row < len(line_ends):
        column, is_quoted = 0, False
        while True:
            is_quoted = data[i] == QUOTE
            begin = i + np.uint64(is_quoted)
            i = begin
            if is_quoted:
                while i < stop and data[i] != QUOTE and data[i] != LINE_FEED and data[i] != CARRIAGE_RETURN:
                    i += _1
            else:
                while not (_IS_SPECIAL[data[i]] or data[i] == comma):
                    i += _1
            if i >= stop:
                return row
            end, byte = i, data[i]
            if is_quoted:
                if byte != QUOTE:
                    return row
                i += _1
                if i + _1 < stop and data[i] == CARRIAGE_RETURN and data[i + _1] == LINE_FEED:
                    i += _1
                if i >= stop or (data[i] != comma and data[i] != LINE_FEED):
                    return row
                byte = data[i]
            elif byte != comma and byte != LINE_FEED:
                if byte != CARRIAGE_RETURN or i + _1 >= stop or data[i + _1] != LINE_FEED:
                    return row
                i += _1
                byte = data[i]
            if column == width:
                return row
            if kept[column] >= 0:
                begins[kept[column], row], ends[kept[column], row] = begin, end
            column += 1
            i += _1
            if byte == LINE_FEED:
                break
        if column != width or (width == 1 and end == begin and not is_quoted):
            return row
        line_ends[row] = i
        row += 1
    return row


@jit
def number_rows(
    data: Any,
    begins: Any,
    ends: Any,
    columns: Any,
    seed: Any,
    name_slots: Any,
    name_hashes: Any,
    name_ends: Any,
    words: Any,
    used_names: Any,
    slots: Any,
    keys: Any,
    firsts: Any,
    used: Any,
    groups: Any,
) -> int:
    """Fill `groups` with a number for each row, the same one for rows with equal cells in these columns.

    Cells are numbered as names, and row n of `keys` has the numbers of the cells of group n. A new group gets the next
    number, and `firsts` gets its row. `slots` is a hash table of groups, with -1 where it is free. Its size is a power
    of two. Return the number of groups, or FULL if a table must grow: then the groups so far stay.
    """
    for row in range(len(groups)):
        found = used[0]
        if found == len(keys) or 2 * found >= len(slots):
            return FULL
        for column in range(len(columns)):
            name = number_name(
                data,
                begins[columns[column], row],
                ends[columns[column], row],
                seed,
                name_slots,
                name_hashes,
                name_ends,
                words,
                used_names,
            )
            if name < 0:
                return FULL
            keys[found, column] = name
        slot = key_slot(keys, found, seed, len(slots))
        while slots[slot] >= 0:
            group = slots[slot]
            is_equal = True
            for column in range(len(columns)):
                is_equal = is_equal and keys[group, column] == keys[found, column]
            if is_equal:
                break
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            slots[slot], firsts[found], used[0] = found, row, found + 1
        groups[row] = slots[slot]
    return int(used[0])


@inlined
def key_slot(keys: Any, group: int, seed: Any, slots: int) -> int:
    """Return the slot where the search for a group begins."""
    value, last = np.uint64(0), len(seed) - 1
    for column in range(keys.shape[1]):
        value += np.uint64(seed[column & last]) * np.uint64(keys[group, column] + 1)
    return first_slot(int(value >> np.uint64(1)), slots)


@jit
def rebuild_groups(slots: Any, keys: Any, count: int, seed: Any) -> None:
    """Fill an empty table of slots with the numbers of all groups."""
    for group in range(count):
        slot = key_slot(keys, group, seed, len(slots))
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = group


@jit
def join_texts(data: Any, begins: Any, ends: Any, texts: Any, text_ends: Any) -> int:
    """Join the texts of each column of `begins` and `ends`. Return the size of all, or UNUSUAL if there is no room."""
    size = 0
    for row in range(begins.shape[1]):
        for part in range(len(begins)):
            begin, end = begins[part, row], ends[part, row]
            if size + end - begin > len(texts):
                return UNUSUAL
            for i in range(begin, end):
                texts[size] = data[i]
                size += 1
        text_ends[row] = size
    return size
