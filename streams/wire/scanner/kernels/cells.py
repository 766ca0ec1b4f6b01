"""The loops that read the cells of a table, find equal rows, and join texts to lines.

A cell is the bytes from its begin to before its end. Arrays of begins and ends have one row per column of the table.
"""

from __future__ import annotations

from typing import Any

from streams.compiler import jit
from streams.wire.scanner.kernels.hash_tables import first_slot, hash_text
from streams.wire.scanner.kernels.text import LINE_FEED, QUOTE, UNUSUAL

CARRIAGE_RETURN = 13

SIGNATURES = {
    "split_cells": "B1 q q q q1 q2 q2 q1 -> q",
    "group_rows": "B1 q2 q2 q1 q1 q1 q1 -> q",
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
    row, i = 0, 0
    while i < size and row < len(line_ends):
        column, is_quoted = 0, False
        while True:
            is_quoted = data[i] == QUOTE
            begin = i + is_quoted
            i = begin
            if is_quoted:
                while i < size and data[i] != QUOTE and data[i] != LINE_FEED and data[i] != CARRIAGE_RETURN:
                    i += 1
            else:
                while i < size and data[i] != delimiter and data[i] != LINE_FEED:
                    if data[i] == QUOTE or (data[i] == CARRIAGE_RETURN and (i + 1 == size or data[i + 1] != LINE_FEED)):
                        return row
                    i += 1
            if i >= size:
                return row
            end = i
            if is_quoted:
                if data[i] != QUOTE:
                    return row
                i += 1
                if i + 1 < size and data[i] == CARRIAGE_RETURN and data[i + 1] == LINE_FEED:
                    i += 1
                if i >= size or (data[i] != delimiter and data[i] != LINE_FEED):
                    return row
            elif data[i] == LINE_FEED and i > begin and data[i - 1] == CARRIAGE_RETURN:
                end -= 1
            if column == width:
                return row
            if kept[column] >= 0:
                begins[kept[column], row], ends[kept[column], row] = begin, end
            column += 1
            i += 1
            if data[i - 1] == LINE_FEED:
                break
        if column != width or (width == 1 and end == begin and not is_quoted):
            return row
        line_ends[row] = i
        row += 1
    return row


@jit
def group_rows(data: Any, begins: Any, ends: Any, seed: Any, slots: Any, groups: Any, firsts: Any) -> int:
    """Fill `groups` with a number for each row, the same one for rows with equal cells.

    Return the number of groups, or UNUSUAL if `firsts` is too short. It gets the first row of each group. All `slots`
    are -1 before, and their number is a power of two that is larger than the number of rows.
    """
    columns, found = len(begins), 0
    for row in range(len(groups)):
        value = 0
        for column in range(columns):
            value = (value * 31 + hash_text(data, begins[column, row], ends[column, row], seed)) & (2**55 - 1)
        slot = first_slot(value, len(slots))
        while slots[slot] >= 0:
            other = firsts[slots[slot]]
            is_equal = True
            for column in range(columns):
                begin, first = begins[column, row], begins[column, other]
                length = ends[column, row] - begin
                is_equal = is_equal and length == ends[column, other] - first
                if is_equal:
                    for k in range(length):
                        is_equal = is_equal and data[begin + k] == data[first + k]
            if is_equal:
                break
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            if found == len(firsts):
                return UNUSUAL
            firsts[found], slots[slot] = row, found
            found += 1
        groups[row] = slots[slot]
    return found


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
