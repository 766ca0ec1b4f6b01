"""Reading of single values from bytes: quotes, words, digits and times."""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import inlined
from streams.wire.limits import MAX_YEAR

PADDING = 16  # bytes that must follow the data, because text is read eight bytes at a time
UNUSUAL = -1  # returned instead of a number if the data needs the complete decoder
NO_TIME = -(2**62)

QUOTE, BACKSLASH, COLON, COMMA, SPACE, LINE_FEED = 34, 92, 58, 44, 32, 10
OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET = 123, 125, 91, 93
ZERO, NINE, DASH, POINT, PLUS, LETTER_T, LETTER_Z = 48, 57, 45, 46, 43, 84, 90

MIN_USUAL_YEAR, MAX_USUAL_YEAR = 2, MAX_YEAR - 2  # the years around the limits are left to the complete decoder
MAX_DIGITS = 16
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(number) for number in range(1, 8))  # an unsigned index needs fewer checks
_LOW_BYTES = np.array([(1 << 8 * size) - 1 for size in range(8)] + [-1], np.int64)  # masks by number of bytes
_IS_UNUSUAL = np.array([byte < SPACE or byte == BACKSLASH for byte in range(256)], np.uint8)


@inlined
def find_quotes(data: Any, begin: int, end: int, quotes: Any) -> int:
    """Fill `quotes` with the places of all quotes of a line. Return their number, or UNUSUAL.

    A line is unusual if it has an unusual byte, or a text that does not end.
    """
    count, unusual = 0, 0
    for i in range(np.uint64(begin), np.uint64(end)):
        quotes[count] = i
        count += data[i] == QUOTE
        unusual |= _IS_UNUSUAL[data[i]]
    return UNUSUAL if unusual or count % 2 else count


@inlined
def word_at(data: Any, begin: int, size: int) -> Any:
    """Return up to eight bytes as one number."""
    i = np.uint64(begin)
    word = (
        np.int64(data[i])
        | (np.int64(data[i + _1]) << 8)
        | (np.int64(data[i + _2]) << 16)
        | (np.int64(data[i + _3]) << 24)
        | (np.int64(data[i + _4]) << 32)
        | (np.int64(data[i + _5]) << 40)
        | (np.int64(data[i + _6]) << 48)
        | (np.int64(data[i + _7]) << 56)
    )
    return word & _LOW_BYTES[min(size, 8)]


@inlined
def put_word(data: Any, place: int, word: int) -> None:
    """Write eight bytes."""
    i = np.uint64(place)
    data[i], data[i + _1], data[i + _2], data[i + _3] = word, word >> 8, word >> 16, word >> 24
    data[i + _4], data[i + _5], data[i + _6], data[i + _7] = word >> 32, word >> 40, word >> 48, word >> 56


@inlined
def skip_spaces(data: Any, i: int) -> int:
    """Return the next place that has no space."""
    while data[i] == SPACE:
        i += 1
    return i


@inlined
def read_digits(data: Any, i: int, count: int) -> int:
    """Return the number that these digits write, or UNUSUAL if one of them is not a digit."""
    value = 0
    for k in range(i, i + count):
        if data[k] < ZERO or data[k] > NINE:
            return UNUSUAL
        value = value * 10 + (data[k] - ZERO)
    return value


@inlined
def find_number_end(data: Any, i: int) -> int:
    """Return the end of an integer without a sign, or UNUSUAL if there is none, or it has leading zeros or is long."""
    end = i
    while ZERO <= data[end] <= NINE:
        end += 1
    if end == i or end - i > MAX_DIGITS or (data[i] == ZERO and end - i > 1):
        return UNUSUAL
    return end


@inlined
def read_time(data: Any, i: int, end: int, is_table: bool) -> int:
    """Return a time such as 2024-05-06T07:08:09.123456Z in microseconds since 1970, or NO_TIME if it is unusual.

    In a table the T may be a space, and a time without a zone is in UTC.
    """
    if end - i < 20 - is_table or data[i + 4] != DASH or data[i + 7] != DASH:
        return NO_TIME
    if data[i + 10] != LETTER_T and not (is_table and data[i + 10] == SPACE):
        return NO_TIME
    if data[i + 13] != COLON or data[i + 16] != COLON:
        return NO_TIME
    year, month, day = read_digits(data, i, 4), read_digits(data, i + 5, 2), read_digits(data, i + 8, 2)
    hour, minute, second = read_digits(data, i + 11, 2), read_digits(data, i + 14, 2), read_digits(data, i + 17, 2)
    if not (MIN_USUAL_YEAR <= year <= MAX_USUAL_YEAR and 1 <= month <= 12 and 0 <= hour <= 23):
        return NO_TIME
    last_day = 31 - (month in (4, 6, 9, 11))
    if month == 2:
        last_day = 28 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    if not (1 <= day <= last_day and 0 <= minute <= 59 and 0 <= second <= 59):
        return NO_TIME
    i += 19
    fraction = 0
    if data[i] == POINT:
        i += 1
        count = 0
        while ZERO <= data[i + count] <= NINE and count < 7:
            count += 1
        if count == 0 or count > 6:
            return NO_TIME
        fraction = read_digits(data, i, count)
        for _ in range(6 - count):
            fraction *= 10
        i += count
    is_utc = (i + 1 == end and data[i] == LETTER_Z) or (is_table and i == end)
    is_zero_offset = i + 6 == end and data[i] == PLUS and data[i + 3] == COLON
    if is_zero_offset:
        is_zero_offset = read_digits(data, i + 1, 2) == 0 and read_digits(data, i + 4, 2) == 0
    if not is_utc and not is_zero_offset:
        return NO_TIME
    # The days since 1970 are counted in years that begin in March, so that a leap day is the last day of its year.
    if month <= 2:
        year -= 1
        month += 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719_469
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + fraction
