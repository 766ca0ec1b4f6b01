"""The loop that fills columns of judgments from the cells of a table. Ids are made for rows that have none."""

from __future__ import annotations

from typing import Any

from streams.compiler import inlined, jit
from streams.wire.limits import MAX_NAME
from streams.wire.scanner.kernels.digest_lanes import DIGESTS, ENDS, LANES, WORK, digest_lanes
from streams.wire.scanner.kernels.hash_tables import FULL, hash_text, number_name
from streams.wire.scanner.kernels.id_texts import (
    LONGEST_ID,
    NUMBER_DIGITS,
    checksum,
    copy_text,
    is_odd,
    write_id,
    write_number,
)
from streams.wire.scanner.kernels.lines import (
    CAMPAIGN,
    DURATION,
    ID_BEGIN,
    ID_END,
    ID_HASH,
    JUDGE,
    LINE,
    REQUEST_BEGIN,
    REQUEST_END,
    SEGMENT,
    TIME,
)
from streams.wire.scanner.kernels.ranking_texts import SEPARATOR, has_leading_zero, read_ranking
from streams.wire.scanner.kernels.text import LINE_FEED, UNUSUAL

SIGNATURES = {"fill_rows": "B1 q2 q1 q1 q q2 q2 B1 q1 q1 i1 q1 q1 q1 q1 B1 q1 q2 q1 q1 q1 B1 q1 -> q"}

# The rows of the array of cells: the places of texts in the data, then times, durations, and the numbers of rows that
# ids are made of, or -1 if they have a digest. A row without a text of systems has those of its template.
SEGMENT_BEGIN, SEGMENT_STOP, JUDGE_BEGIN, JUDGE_STOP, GIVEN_BEGIN, GIVEN_STOP = range(6)
SYSTEMS_BEGIN, SYSTEMS_STOP, RANKS_BEGIN, RANKS_STOP, AT, TOOK, NUMBER = range(6, 13)
CELL_ROWS = NUMBER + 1
# The columns of the array of templates. The last three are the begin and the end of the text before the segment, and
# the end of the text after the judge, which follows it.
CAMPAIGN_NUMBER, FIRST_MEMBER, LAST_MEMBER, TEXTS = range(4)
TEMPLATE = 6  # columns


@jit
def fill_rows(
    data: Any,
    cells: Any,
    places: Any,
    groups: Any,
    first: int,
    templates: Any,
    members: Any,
    texts: Any,
    unnamed: Any,
    seed: Any,
    slots: Any,
    hashes: Any,
    ends: Any,
    words: Any,
    used: Any,
    scratch: Any,
    work: Any,
    rows: Any,
    starts: Any,
    systems: Any,
    ranks: Any,
    ids: Any,
    checksums: Any,
) -> int:
    """Fill a column of `rows` for each place of a row. Return how many, up to one that is not usual, or FULL.

    `groups` are the templates of all rows, and `first` is the number of the first row. `members` has the systems and
    the ranks of the templates. `unnamed` has the numbers of the names for empty cells of a segment and of a judge, and
    the ends of these names, with which the texts begin. `scratch` has room for the texts of LANES ids. The ids follow
    each other, each with a line feed after it, and `checksums` gets their CRC-32. Texts have padding after them.
    """
    if len(work) < WORK or len(starts) <= len(places):
        return UNUSUAL
    size, starts[0], filled = 0, 0, 0
    while filled < len(places):
        stop = min(filled + LANES, len(places))
        text, work[ENDS] = 0, 0
        for column in range(filled, stop):
            text = fill_row(
                data,
                cells,
                places,
                groups,
                templates,
                members,
                texts,
                unnamed,
                seed,
                slots,
                hashes,
                ends,
                words,
                used,
                scratch,
                text,
                rows,
                column,
                starts,
                systems,
                ranks,
            )
            if text == FULL:
                return FULL
            if text == UNUSUAL:
                stop = column
                break
            work[ENDS + 1 + column - filled] = text
        for lane in range(stop - filled, LANES):
            work[ENDS + 1 + lane] = work[ENDS + lane]
        if work[ENDS + LANES] > 0:
            digest_lanes(scratch, work)
        begin = size
        for column in range(filled, stop):
            row = places[column]
            given, end = cells[GIVEN_BEGIN, row], cells[GIVEN_STOP, row]
            before, middle = templates[groups[row], TEXTS], templates[groups[row], TEXTS + 1]
            if size + max(LONGEST_ID, middle - before + NUMBER_DIGITS, end - given) + 9 > len(ids):
                return UNUSUAL
            rows[ID_BEGIN, column] = size
            if end > given:
                size = copy_text(data, given, end, ids, size)
            elif cells[NUMBER, row] >= 0:
                size = copy_text(texts, before, middle, ids, size)
                size = write_number(ids, size, cells[NUMBER, row])
            else:
                size = write_id(ids, size, first + row, work[DIGESTS + column - filled])
            rows[ID_END, column] = size
            ids[size] = LINE_FEED
            size += 1
        for column in range(filled, stop):
            end = rows[ID_END, column]
            rows[ID_HASH, column] = hash_text(ids, begin, end, seed)
            checksums[column] = checksum(ids, begin, end)
            begin = end + 1
        if stop < min(filled + LANES, len(places)):
            return stop
        filled = stop
    return filled


@inlined
def fill_row(
    data: Any,
    cells: Any,
    places: Any,
    groups: Any,
    templates: Any,
    members: Any,
    texts: Any,
    unnamed: Any,
    seed: Any,
    slots: Any,
    hashes: Any,
    ends: Any,
    words: Any,
    used: Any,
    scratch: Any,
    text: int,
    rows: Any,
    column: int,
    starts: Any,
    systems: Any,
    ranks: Any,
) -> int:
    """Fill a column, and write the text of its id, if it has none, to `scratch` from `text` on.

    Return the end of the text, UNUSUAL or FULL.
    """
    row = places[column]
    template = groups[row]
    segment, segment_end = cells[SEGMENT_BEGIN, row], cells[SEGMENT_STOP, row]
    judge, judge_end = cells[JUDGE_BEGIN, row], cells[JUDGE_STOP, row]
    given, given_end = cells[GIVEN_BEGIN, row], cells[GIVEN_STOP, row]
    if max(segment_end - segment, judge_end - judge, given_end - given) > MAX_NAME:
        return UNUSUAL
    if is_odd(data, segment, segment_end) or is_odd(data, judge, judge_end) or is_odd(data, given, given_end):
        return UNUSUAL
    rows[SEGMENT, column], rows[JUDGE, column] = unnamed[0], unnamed[1]
    if segment_end > segment:
        rows[SEGMENT, column] = number_name(data, segment, segment_end, seed, slots, hashes, ends, words, used)
    if judge_end > judge:
        rows[JUDGE, column] = number_name(data, judge, judge_end, seed, slots, hashes, ends, words, used)
    if rows[SEGMENT, column] < 0 or rows[JUDGE, column] < 0:
        return FULL
    rows[CAMPAIGN, column], rows[LINE, column] = templates[template, CAMPAIGN_NUMBER], row
    rows[TIME, column], rows[DURATION, column] = cells[AT, row], cells[TOOK, row]
    rows[REQUEST_BEGIN, column], rows[REQUEST_END, column] = 0, 0
    count = starts[column]
    if cells[SYSTEMS_STOP, row] > cells[SYSTEMS_BEGIN, row]:
        count = read_ranking(
            data,
            cells[SYSTEMS_BEGIN, row],
            cells[SYSTEMS_STOP, row],
            cells[RANKS_BEGIN, row],
            cells[RANKS_STOP, row],
            count,
            systems,
            ranks,
            seed,
            slots,
            hashes,
            ends,
            words,
            used,
        )
        if count < 0:
            return count
    else:
        begin, end = templates[template, FIRST_MEMBER], templates[template, LAST_MEMBER]
        if count + end - begin > len(systems):
            return UNUSUAL
        for k in range(begin, end):
            systems[count], ranks[count] = members[0, k], members[1, k]
            count += 1
    starts[column + 1] = count
    before, middle, after = templates[template, TEXTS], templates[template, TEXTS + 1], templates[template, TEXTS + 2]
    if given_end > given:
        return text
    if cells[NUMBER, row] >= 0:
        return text if middle - before + NUMBER_DIGITS <= MAX_NAME else UNUSUAL
    own, own_end = cells[SYSTEMS_BEGIN, row], cells[SYSTEMS_STOP, row]
    rank, rank_end = cells[RANKS_BEGIN, row], cells[RANKS_STOP, row]
    if text + after - before + 2 * MAX_NAME + own_end - own + rank_end - rank + 11 > len(scratch):
        return UNUSUAL
    text = copy_text(texts, before, middle, scratch, text)
    if segment_end > segment:
        text = copy_text(data, segment, segment_end, scratch, text)
    else:
        text = copy_text(texts, 0, unnamed[2], scratch, text)
    scratch[text] = SEPARATOR
    text += 1
    if judge_end > judge:
        text = copy_text(data, judge, judge_end, scratch, text)
    else:
        text = copy_text(texts, unnamed[2], unnamed[3], scratch, text)
    if own_end == own:
        return copy_text(texts, middle, after, scratch, text)
    if has_leading_zero(data, rank, rank_end):
        return UNUSUAL
    scratch[text] = SEPARATOR
    text = copy_text(data, own, own_end, scratch, text + 1)
    scratch[text] = SEPARATOR
    return copy_text(data, rank, rank_end, scratch, text + 1)
