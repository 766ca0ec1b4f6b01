"""JSON Lines of ordinary rankings, scanned into columns of numbers; names become numbers on the way.

Ordinary is what a platform writes: known fields, each once, names without escapes, times in UTC. Whatever is not is
left to a closer look; so nothing is judged wrong here, only taken in or left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streams.compiler import jit

CLOSER_LOOK, NO_ROOM = -1, -2  # instead of the number of lines
NO_TIME = -(2**62)
PADDING = 16  # bytes that must follow the last line, because texts are read eight bytes at a time

_QUOTE, _BACKSLASH, _COLON, _COMMA, _SPACE, _END = 34, 92, 58, 44, 32, 10
_OPEN, _CLOSE, _LIST, _LIST_END = 123, 125, 91, 93
_ZERO, _NINE, _DASH, _POINT, _PLUS, _T, _Z = 48, 57, 45, 46, 43, 84, 90


def _word(text: bytes) -> int:
    return int.from_bytes(text, "little")


# The names of the fields as numbers; of the long one its beginning and its end.
_ID, _AT, _JUDGE, _RANKS = _word(b"id"), _word(b"at"), _word(b"judge"), _word(b"ranks")
_CAMPAIGN, _SEGMENT, _SYSTEMS = _word(b"campaign"), _word(b"segment"), _word(b"systems")
_REQUEST, _VERSION, _SOURCE = _word(b"request"), _word(b"version"), _word(b"source")
_DURATION, _MS = _word(b"duration"), _word(b"_ms")

# As in `wire.events`. Repeated here, because compiled code is valid as long as the sources of this folder are.
_LONGEST_NAME, _LONGEST_SOURCE = 200, 1000  # in bytes, so in characters too
_MOST_RANKED, _LAST_RANK, _LONGEST_MS = 100, 1_000_000, 2**53
_FIRST_YEAR, _LAST_YEAR = 2, 8998  # some way from where a time is refused
_REQUIRED = 0b111_1111
_BITS = 2**54 - 1  # of a hash: times 499 they fit into 63
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(number) for number in range(1, 8))  # an index without sign is checked less
_KEPT = np.array([(1 << 8 * size) - 1 for size in range(8)] + [-1], np.int64)  # of a word, so many bytes
_ODD = np.array([(byte < _SPACE and byte != _END) or byte == _BACKSLASH for byte in range(256)], np.uint8)

SIGNATURES = {"scan_lines": "B1 q q1 i1 q1 q1 q1 q1 q2 q1 q1 q1 -> q"}


@jit
def find_quotes(data: Any, size: int, quotes: Any) -> int:
    """Note where the quotes are, and how many; CLOSER_LOOK if there is an escape or a control character."""
    count, odd = 0, 0
    for i in range(np.uint64(size)):
        quotes[count] = i
        count += data[i] == _QUOTE
        odd |= _ODD[data[i]]
    quotes[count] = quotes[count + 1] = size  # where a text ends that does not end
    return CLOSER_LOOK if odd else count


@jit
def word_at(data: Any, begin: int, size: int) -> Any:
    """Read up to eight bytes as one number."""
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
    return word & _KEPT[min(size, 8)]


@jit
def hashed(data: Any, begin: int, end: int) -> Any:
    """Give 54 bits that depend on each byte."""
    value = np.int64(0)
    for i in range(begin, end, 8):
        word = word_at(data, i, end - i)
        value = ((value * 499) ^ word ^ (word >> 10)) & _BITS
    return value


@jit
def slot_of(value: int, slots: int) -> int:
    """Choose a place in a table for a hash; the table's size is a power of two."""
    return (value ^ (value >> 19) ^ (value >> 37)) & (slots - 1)


@jit
def number_of(data: Any, begin: int, end: int, slots: Any, hashes: Any, ends: Any, words: Any, used: Any) -> int:
    """Give the number of a name, the next one if it is new; NO_ROOM if it does not fit in.

    `words` has the names one after the other, each filled up with zeros, which no name has in it.
    """
    value = hashed(data, begin, end)
    size = (end - begin + 7) // 8
    place = slot_of(value, len(slots))
    while slots[place] >= 0:
        number = slots[place]
        first = ends[number]
        if hashes[number] == value and ends[number + 1] - first == size:
            k = 0
            while k < size and words[first + k] == word_at(data, begin + 8 * k, end - begin - 8 * k):
                k += 1
            if k == size:
                return int(number)
        place = (place + 1) & (len(slots) - 1)
    number = used[0]
    first = ends[number]
    if number >= len(hashes) or first + size > len(words):
        return NO_ROOM
    for k in range(size):
        words[first + k] = word_at(data, begin + 8 * k, end - begin - 8 * k)
    hashes[number], ends[number + 1], slots[place], used[0] = value, first + size, number, number + 1
    return int(number)


@jit
def skip(data: Any, i: int) -> int:
    """Go on to what is no space."""
    while data[i] == _SPACE:
        i += 1
    return i


@jit
def digits(data: Any, i: int, count: int) -> int:
    """Read so many digits; -1 if one is none."""
    value = 0
    for k in range(i, i + count):
        if data[k] < _ZERO or data[k] > _NINE:
            return -1
        value = value * 10 + (data[k] - _ZERO)
    return value


@jit
def number_end(data: Any, i: int) -> int:
    """Find the end of a whole number without sign; -1 if it has none, leading zeros or too many digits."""
    end = i
    while _ZERO <= data[end] <= _NINE:
        end += 1
    if end == i or end - i > 16 or (data[i] == _ZERO and end - i > 1):
        return -1
    return end


@jit
def time_of(data: Any, i: int, end: int) -> int:
    """Read 2024-05-06T07:08:09.123456Z as microseconds since 1970; the least number if it needs a closer look."""
    if end - i < 20 or data[i + 4] != _DASH or data[i + 7] != _DASH or data[i + 10] != _T:
        return NO_TIME
    if data[i + 13] != _COLON or data[i + 16] != _COLON:
        return NO_TIME
    year, month, day = digits(data, i, 4), digits(data, i + 5, 2), digits(data, i + 8, 2)
    hour, minute, second = digits(data, i + 11, 2), digits(data, i + 14, 2), digits(data, i + 17, 2)
    if not (_FIRST_YEAR <= year <= _LAST_YEAR and 1 <= month <= 12 and 0 <= hour <= 23):
        return NO_TIME
    longest = 31 - (month in (4, 6, 9, 11))
    if month == 2:
        longest = 28 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    if not (1 <= day <= longest and 0 <= minute <= 59 and 0 <= second <= 59):
        return NO_TIME
    i += 19
    fraction = 0
    if data[i] == _POINT:
        i += 1
        count = 0
        while _ZERO <= data[i + count] <= _NINE and count < 7:
            count += 1
        if count == 0 or count > 6:
            return NO_TIME
        fraction = digits(data, i, count)
        for _ in range(6 - count):
            fraction *= 10
        i += count
    zulu = i + 1 == end and data[i] == _Z
    zero = i + 6 == end and data[i] == _PLUS and data[i + 3] == _COLON
    if zero:
        zero = digits(data, i + 1, 2) == 0 and digits(data, i + 4, 2) == 0
    if not zulu and not zero:
        return NO_TIME
    # Days since 1970 by the civil calendar, whose year begins in March.
    if month <= 2:
        year -= 1
        month += 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719_469
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + fraction


@jit
def scan_lines(
    data: Any,
    size: int,
    quotes: Any,
    slots: Any,
    hashes: Any,
    ends: Any,
    words: Any,
    used: Any,
    rows: Any,
    starts: Any,
    systems: Any,
    ranks: Any,
) -> int:
    """Scan whole lines, one a column of `rows`, their systems and ranks from `starts` on; give the number of lines.

    The rows: campaign, segment, judge, time, duration (-1: none), begin, end and hash of the id, whether it names a
    request. A text that goes on after the end of a line makes one line of two.
    """
    if find_quotes(data, size, quotes) < 0:
        return CLOSER_LOOK
    i, quote, line, count = 0, 0, 0, 0
    starts[0] = 0
    while i < size:
        if data[i] != _OPEN:
            return CLOSER_LOOK
        i += 1
        found, ranked = 0, count
        rows[4, line], rows[8, line] = -1, 0
        while True:
            i = skip(data, i)
            if data[i] != _QUOTE:
                return CLOSER_LOOK
            end = quotes[quote + 1]
            length = end - i - 1
            key = word_at(data, i + 1, length)
            if length > 8 and (length != 11 or key != _DURATION or word_at(data, i + 9, 3) != _MS):
                return CLOSER_LOOK
            quote += 2
            i = skip(data, end + 1)
            if data[i] != _COLON:
                return CLOSER_LOOK
            i = skip(data, i + 1)
            if key == _SYSTEMS:
                field = 5
                if data[i] != _LIST:
                    return CLOSER_LOOK
                while True:
                    i = skip(data, i + 1) + 1
                    end = quotes[quote + 1]
                    if data[i - 1] != _QUOTE or not 0 < end - i <= _LONGEST_NAME:
                        return CLOSER_LOOK
                    quote += 2
                    name = number_of(data, i, end, slots, hashes, ends, words, used)
                    if name < 0:
                        return NO_ROOM
                    for k in range(starts[line], count):
                        if systems[k] == name:
                            return CLOSER_LOOK
                    systems[count] = name
                    count += 1
                    i = skip(data, end + 1)
                    if data[i] == _LIST_END:
                        break
                    if data[i] != _COMMA or count - starts[line] >= _MOST_RANKED:
                        return CLOSER_LOOK
                i += 1
            elif key == _RANKS:
                field = 6
                if data[i] != _LIST:
                    return CLOSER_LOOK
                while True:
                    i = skip(data, i + 1)
                    end = number_end(data, i)
                    rank = digits(data, i, end - i)
                    if end < 0 or not 1 <= rank <= _LAST_RANK:
                        return CLOSER_LOOK
                    ranks[ranked] = rank
                    ranked += 1
                    i = skip(data, end)
                    if data[i] == _LIST_END:
                        break
                    if data[i] != _COMMA or ranked - starts[line] >= _MOST_RANKED:
                        return CLOSER_LOOK
                i += 1
            elif length == 11:
                field = 7
                end = number_end(data, i)
                rows[4, line] = digits(data, i, end - i)
                if end < 0 or rows[4, line] > _LONGEST_MS:
                    return CLOSER_LOOK
                i = end
            else:
                end = quotes[quote + 1]
                i += 1
                if data[i - 1] != _QUOTE or end - i > (_LONGEST_SOURCE if key == _SOURCE else _LONGEST_NAME):
                    return CLOSER_LOOK
                if end == i and key != _SOURCE:
                    return CLOSER_LOOK
                quote += 2
                if key == _CAMPAIGN:
                    field = 0
                elif key == _SEGMENT:
                    field = 1
                elif key == _JUDGE:
                    field = 2
                elif key == _AT:
                    field = 3
                    rows[3, line] = time_of(data, i, end)
                    if rows[3, line] == NO_TIME:
                        return CLOSER_LOOK
                elif key == _ID:
                    field = 4
                    rows[5, line], rows[6, line], rows[7, line] = i, end, hashed(data, i, end)
                elif key == _REQUEST:
                    field = 8
                    rows[8, line] = 1
                elif key == _SOURCE:
                    field = 9
                elif key == _VERSION and end - i == 1 and data[i] == _ZERO + 1:
                    field = 10
                else:
                    return CLOSER_LOOK
                if field < 3:
                    name = number_of(data, i, end, slots, hashes, ends, words, used)
                    if name < 0:
                        return NO_ROOM
                    rows[field, line] = name
                i = end + 1
            if found & (1 << field):
                return CLOSER_LOOK
            found |= 1 << field
            i = skip(data, i)
            if data[i] == _CLOSE:
                break
            if data[i] != _COMMA:
                return CLOSER_LOOK
            i += 1
        if data[i + 1] != _END or (found & _REQUIRED) != _REQUIRED:
            return CLOSER_LOOK
        i += 2
        if count != ranked or count - starts[line] < 2:
            return CLOSER_LOOK
        line += 1
        starts[line] = count
    return line
