"""The loop that scans JSON Lines of usual rankings into columns of numbers.

Usual is what most platforms write: known fields, each one once, texts without escapes, times in UTC. The loop passes
over every other line and leaves it to the complete decoder. So it never rejects a judgment.
"""

from __future__ import annotations

from typing import Any

from streams.compiler import inlined, jit
from streams.wire.limits import MAX_DURATION_MS, MAX_NAME, MAX_RANK, MAX_RANKED, MAX_SOURCE, MAX_TAGS
from streams.wire.scanner.kernels.hash_tables import FULL, hash_text, number_name
from streams.wire.scanner.kernels.text import (
    CLOSE_BRACE,
    CLOSE_BRACKET,
    COLON,
    COMMA,
    LINE_FEED,
    NO_TIME,
    OPEN_BRACE,
    OPEN_BRACKET,
    PADDING,
    QUOTE,
    UNUSUAL,
    ZERO,
    find_number_end,
    find_quotes,
    read_digits,
    read_time,
    skip_spaces,
    word_at,
)

# The rows of the columns that the loop fills. `DURATION` is -1 if there is none. A text is the bytes from its begin to
# before its end. The request is empty if there is none. `LINE` is the number of the line.
CAMPAIGN, SEGMENT, JUDGE, TIME, DURATION, ID_BEGIN, ID_END, ID_HASH, REQUEST_BEGIN, REQUEST_END, LINE = range(11)
ROWS = 11

SIGNATURES = {"scan_lines": "B1 q q1 q1 q1 i1 q1 q1 q1 q1 q2 q1 q1 q1 -> q"}


def _word(text: bytes) -> int:
    return int.from_bytes(text, "little")


# The keys of the fields as words of eight bytes. `duration_ms` takes two words.
_ID_KEY, _AT_KEY, _JUDGE_KEY, _RANKS_KEY = _word(b"id"), _word(b"at"), _word(b"judge"), _word(b"ranks")
_CAMPAIGN_KEY, _SEGMENT_KEY, _SYSTEMS_KEY = _word(b"campaign"), _word(b"segment"), _word(b"systems")
_REQUEST_KEY, _VERSION_KEY, _SOURCE_KEY = _word(b"request"), _word(b"version"), _word(b"source")
_TAGS_KEY = _word(b"tags")
_DURATION_KEY, _DURATION_KEY_END = _word(b"duration"), _word(b"_ms")
_DURATION_KEY_LENGTH = 11

# The bits of the fields that a line has. The first three fields are names, and their bits are their rows.
_AT_BIT, _ID_BIT, _SYSTEMS_BIT, _RANKS_BIT, _DURATION_BIT, _REQUEST_BIT, _SOURCE_BIT, _VERSION_BIT, _TAGS_BIT = range(
    3, 12
)
_REQUIRED = 0b111_1111


@jit
def scan_lines(
    data: Any,
    size: int,
    begins: Any,
    quotes: Any,
    seed: Any,
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
    """Scan lines and return the number of usual ones, or FULL if a table of names must grow.

    Line n is the bytes from begins[n] to before begins[n + 1], and ends with a line feed. Each usual line becomes a
    column of `rows`, in their order. The systems and ranks of column n are those from starts[n] to starts[n + 1].

    Nothing is written or read outside of the arrays: a line for which they have no room is unusual.
    """
    if len(data) < size + PADDING or len(starts) == 0:
        return UNUSUAL
    column, starts[0] = 0, 0
    for line in range(len(begins) - 1):
        begin, end = begins[line], begins[line + 1]
        if not 0 <= begin < end <= size or end - begin + 2 > len(quotes):
            continue
        if column == rows.shape[1] or column + 1 == len(starts):
            break
        count = scan_line(
            data, begin, end, quotes, seed, slots, hashes, ends, words, used, rows, column, starts, systems, ranks
        )
        if count == FULL:
            return FULL
        if count != UNUSUAL:
            rows[LINE, column] = line
            column += 1
            starts[column] = count
    return column


@inlined
def scan_line(
    data: Any,
    i: int,
    line_end: int,
    quotes: Any,
    seed: Any,
    slots: Any,
    hashes: Any,
    ends: Any,
    words: Any,
    used: Any,
    rows: Any,
    line: int,
    starts: Any,
    systems: Any,
    ranks: Any,
) -> int:
    """Scan a line into a column. Return the number of systems up to it, UNUSUAL, or FULL."""
    if data[line_end - 1] != LINE_FEED or data[i] != OPEN_BRACE or find_quotes(data, i, line_end - 1, quotes) < 0:
        return UNUSUAL
    quote = 0
    i += 1
    count = starts[line]
    found, ranked = 0, count
    rows[DURATION, line], rows[REQUEST_BEGIN, line], rows[REQUEST_END, line] = -1, 0, 0
    while True:
        i = skip_spaces(data, i)
        if data[i] != QUOTE:
            return UNUSUAL
        end = quotes[quote + 1]
        length = end - i - 1
        key = word_at(data, i + 1, length)
        if length > 8 and (length != _DURATION_KEY_LENGTH or key != _DURATION_KEY):
            return UNUSUAL
        if length > 8 and word_at(data, i + 9, 3) != _DURATION_KEY_END:
            return UNUSUAL
        quote += 2
        i = skip_spaces(data, end + 1)
        if data[i] != COLON:
            return UNUSUAL
        i = skip_spaces(data, i + 1)
        if key == _SYSTEMS_KEY:
            field = _SYSTEMS_BIT
            if data[i] != OPEN_BRACKET:
                return UNUSUAL
            while True:
                i = skip_spaces(data, i + 1) + 1
                end = quotes[quote + 1]
                if data[i - 1] != QUOTE or not 0 < end - i <= MAX_NAME:
                    return UNUSUAL
                quote += 2
                name = number_name(data, i, end, seed, slots, hashes, ends, words, used)
                if name < 0:
                    return FULL
                if count == len(systems):
                    return UNUSUAL
                for k in range(starts[line], count):
                    if systems[k] == name:
                        return UNUSUAL
                systems[count] = name
                count += 1
                i = skip_spaces(data, end + 1)
                if data[i] == CLOSE_BRACKET:
                    break
                if data[i] != COMMA or count - starts[line] >= MAX_RANKED:
                    return UNUSUAL
            i += 1
        elif key == _RANKS_KEY:
            field = _RANKS_BIT
            if data[i] != OPEN_BRACKET:
                return UNUSUAL
            while True:
                i = skip_spaces(data, i + 1)
                end = find_number_end(data, i)
                rank = read_digits(data, i, end - i)
                if end < 0 or not 1 <= rank <= MAX_RANK or ranked == len(ranks):
                    return UNUSUAL
                ranks[ranked] = rank
                ranked += 1
                i = skip_spaces(data, end)
                if data[i] == CLOSE_BRACKET:
                    break
                if data[i] != COMMA or ranked - starts[line] >= MAX_RANKED:
                    return UNUSUAL
            i += 1
        elif key == _TAGS_KEY:
            field = _TAGS_BIT
            if data[i] != OPEN_BRACE:
                return UNUSUAL
            texts = 0  # names and values
            while True:
                i = skip_spaces(data, i + 1)
                end = quotes[quote + 1]
                if data[i] != QUOTE or not 0 < end - i - 1 <= MAX_NAME:
                    return UNUSUAL
                quote += 2
                texts += 1
                i = skip_spaces(data, end + 1)
                if texts % 2 == 0 and data[i] == CLOSE_BRACE:
                    break
                if data[i] != (COLON if texts % 2 else COMMA) or texts >= 2 * MAX_TAGS:
                    return UNUSUAL
            i += 1
        elif length == _DURATION_KEY_LENGTH:
            field = _DURATION_BIT
            end = find_number_end(data, i)
            rows[DURATION, line] = read_digits(data, i, end - i)
            if end < 0 or rows[DURATION, line] > MAX_DURATION_MS:
                return UNUSUAL
            i = end
        else:
            end = quotes[quote + 1]
            i += 1
            if data[i - 1] != QUOTE or end - i > (MAX_SOURCE if key == _SOURCE_KEY else MAX_NAME):
                return UNUSUAL
            if end == i and key != _SOURCE_KEY:
                return UNUSUAL
            quote += 2
            if key == _CAMPAIGN_KEY:
                field = CAMPAIGN
            elif key == _SEGMENT_KEY:
                field = SEGMENT
            elif key == _JUDGE_KEY:
                field = JUDGE
            elif key == _AT_KEY:
                field = _AT_BIT
                rows[TIME, line] = read_time(data, i, end, False)
                if rows[TIME, line] == NO_TIME:
                    return UNUSUAL
            elif key == _ID_KEY:
                field = _ID_BIT
                rows[ID_BEGIN, line], rows[ID_END, line] = i, end
                rows[ID_HASH, line] = hash_text(data, i, end, seed)
            elif key == _REQUEST_KEY:
                field = _REQUEST_BIT
                rows[REQUEST_BEGIN, line], rows[REQUEST_END, line] = i, end
            elif key == _SOURCE_KEY:
                field = _SOURCE_BIT
            elif key == _VERSION_KEY and end - i == 1 and data[i] == ZERO + 1:
                field = _VERSION_BIT
            else:
                return UNUSUAL
            if field <= JUDGE:
                name = number_name(data, i, end, seed, slots, hashes, ends, words, used)
                if name < 0:
                    return FULL
                rows[field, line] = name
            i = end + 1
        if found & (1 << field):
            return UNUSUAL
        found |= 1 << field
        i = skip_spaces(data, i)
        if data[i] == CLOSE_BRACE:
            break
        if data[i] != COMMA:
            return UNUSUAL
        i += 1
    if i + 2 != line_end or (found & _REQUIRED) != _REQUIRED or count != ranked or count - starts[line] < 2:
        return UNUSUAL
    return int(count)
