"""The loops that read the times of a table and write times as on the wire."""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import inlined, jit
from streams.wire.limits import MAX_YEAR
from streams.wire.scanner.kernels.text import (
    COLON,
    DASH,
    LETTER_T,
    LETTER_Z,
    NINE,
    NO_TIME,
    POINT,
    UNUSUAL,
    ZERO,
    read_digits,
    read_time,
)

SIGNATURES = {
    "read_times": "B1 q1 q1 q q1",
    "write_times": "q1 B2",
    "write_numbers": "q1 B1 q1 -> q",
    "read_numbers": "B1 q1 q1 q1",
}

WRITTEN = 27  # bytes of a written time: 2024-05-06T07:08:09.123456Z
_DIGITS = 15  # of a number that is read without an error: it is less than 2 ** 53
_LATEST = (MAX_YEAR - 2 - 1970) * 365 * 86_400  # seconds: later times are left to the complete reader
_POWERS = 10.0 ** np.arange(_DIGITS + 1)
_DAYS_TO_1970 = 719_468  # from 1 March of the year 0


@jit
def read_times(data: Any, begins: Any, ends: Any, with_dates: int, times: Any) -> None:
    """Fill `times` with microseconds: of a number of seconds, or with dates of ISO 8601. Others are NO_TIME."""
    for row in range(len(times)):
        begin, end = begins[row], ends[row]
        times[row] = read_seconds(data, begin, end)
        if with_dates and times[row] == NO_TIME:
            times[row] = read_time(data, begin, end, True)


@inlined
def read_seconds(data: Any, begin: int, end: int) -> int:
    """Return a decimal number of seconds as microseconds, rounded as `timedelta` does, or NO_TIME."""
    value, digits, decimals = 0, 0, -1
    for i in range(begin, end):
        if data[i] == POINT and decimals < 0 and digits > 0:
            decimals = 0
        elif ZERO <= data[i] <= NINE and digits < _DIGITS:
            value = value * 10 + (data[i] - ZERO)
            digits += 1
            decimals += decimals >= 0
        else:
            return NO_TIME
    if digits == 0 or decimals == 0:
        return NO_TIME
    seconds = value / _POWERS[max(decimals, 0)]
    if seconds > _LATEST:
        return NO_TIME
    whole = np.floor(seconds)
    part = (seconds - whole) * 1e6
    found = np.int64(whole) * 1_000_000 + np.int64(np.floor(part))
    rest = part - np.floor(part)
    return int(found + (rest > 0.5 or (rest == 0.5 and found % 2 == 1)))


@jit
def read_numbers(data: Any, begins: Any, ends: Any, numbers: Any) -> None:
    """Fill `numbers` with whole numbers of up to ten digits. Others are UNUSUAL."""
    for row in range(len(numbers)):
        size = ends[row] - begins[row]
        numbers[row] = read_digits(data, begins[row], size) if 1 <= size <= 10 else UNUSUAL


@jit
def write_times(times: Any, texts: Any) -> None:
    """Write times that are microseconds since 1970, one in each row of `texts`."""
    for row in range(len(times)):
        seconds, fraction = times[row] // 1_000_000, times[row] % 1_000_000
        days, second = seconds // 86_400 + _DAYS_TO_1970, seconds % 86_400
        # The years begin in March, so that a leap day is the last day of its year. 400 of them have 146,097 days.
        age, day = days // 146_097, days % 146_097
        year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
        day -= 365 * year + year // 4 - year // 100
        month = (5 * day + 2) // 153
        day -= (153 * month + 2) // 5 - 1
        year += 400 * age + (month >= 10)
        month += 3 if month < 10 else -9
        write_digits(texts, row, 0, 4, year)
        write_digits(texts, row, 5, 2, month)
        write_digits(texts, row, 8, 2, day)
        write_digits(texts, row, 11, 2, second // 3_600)
        write_digits(texts, row, 14, 2, second // 60 % 60)
        write_digits(texts, row, 17, 2, second % 60)
        write_digits(texts, row, 20, 6, fraction)
        texts[row, 4], texts[row, 7], texts[row, 10], texts[row, 13] = DASH, DASH, LETTER_T, COLON
        texts[row, 16], texts[row, 19], texts[row, 26] = COLON, POINT, LETTER_Z


@inlined
def write_digits(texts: Any, row: int, place: int, count: int, value: int) -> None:
    """Write a number with `count` digits."""
    for k in range(place + count - 1, place - 1, -1):
        texts[row, k] = ZERO + value % 10
        value //= 10


@jit
def write_numbers(numbers: Any, texts: Any, ends: Any) -> int:
    """Write numbers that are not negative, one after the other. Return their size, or UNUSUAL if there is no room."""
    size = 0
    for row in range(len(numbers)):
        digits, rest = 1, numbers[row]
        while rest >= 10:
            rest //= 10
            digits += 1
        if size + digits > len(texts):
            return UNUSUAL
        rest = numbers[row]
        for k in range(size + digits - 1, size - 1, -1):
            texts[k] = ZERO + rest % 10
            rest //= 10
        size += digits
        ends[row] = size
    return size
