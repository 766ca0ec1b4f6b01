"""The pages of a Parquet file: their headers are checked before pyarrow unpacks them.

A page of some bytes may unpack to gigabytes, and pyarrow allocates whatever a header asks for. The description at the
end of a file has sizes too, but nobody compares them with the pages. So every header is read here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from io import SEEK_END
from typing import TYPE_CHECKING, Any

from streams.formats.input.parquet_dictionaries import longest_value
from streams.formats.input.thrift import CompactReader
from streams.formats.limits import MAX_FOOTER, MAX_LISTED, MAX_PAGES, MAX_ROWS_PER_BYTE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import BinaryIO

MAX_ROWS = 1000  # that are read together as objects
_UNPACKED_BATCH = 2**26  # bytes of values that a batch may repeat from dictionaries
_DICTIONARY_COST = 8  # bytes of memory for each byte of a dictionary: it is kept with an index of its values
_MAX_REPEATED = 2**25  # bytes that the lists of a row group may repeat from a dictionary, beside other pages
_MAX_FIXED = 64  # bytes of a value of a fixed length
_HEADER_SIZES = (2**10, 2**16, 2**20)  # bytes that are read for a header: more if they are too few
_MISCOUNTED = 100  # bytes: old writers left a header out of the size of a chunk
_TEXT = "BYTE_ARRAY"
_DICTIONARY = 2  # the type of a page with the values that other pages refer to
# The fields of the description of a file, and of a column chunk in it.
_ROW_GROUPS, _CHUNK = 4, 3
_CODEC, _CHUNK_UNPACKED, _CHUNK_SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 4, 6, 7, 9, 11
# The fields of a page header: its type, its sizes, and the headers of each type.
_TYPE, _UNPACKED, _PACKED, _DATA, _DICTIONARY_HEADER, _DATA_V2 = 1, 2, 3, 5, 7, 8
# Encodings whose pages are not larger in memory than unpacked. The others, for example DELTA_BYTE_ARRAY, repeat values.
_PLAIN = frozenset({0, 3, 4, 5, 9})
_BY_DICTIONARY = frozenset({2, 8})


@dataclass(frozen=True, kw_only=True)
class ColumnPages:
    """What reading one column chunk takes: bytes of its largest pages, and the number of its values."""

    page: int = 0
    dictionary: int = 0
    values: int = 0
    has_plain: bool = False
    repeated: int = (
        0  # bytes of the longest value of a dictionary, as often as pages refer to it; 0 without plain pages
    )


@dataclass(frozen=True, kw_only=True)
class ReadingPlan:
    """How to read the columns: the rows of a batch, and the columns whose values stay in their dictionaries."""

    rows: int
    dictionaries: list[str]


def check_footer(stream: BinaryIO) -> None:
    """Raise ValueError if the description at the end of the file is too large."""
    _seek_footer(stream)
    stream.seek(0)


def _seek_footer(stream: BinaryIO) -> int:
    """Go to the description of the file, and return its size."""
    end = stream.seek(0, SEEK_END)
    stream.seek(max(0, end - 8))
    size = int.from_bytes(stream.read(4), "little")
    if size > MAX_FOOTER:
        raise ValueError(f"its description has {size:,} bytes; at most {MAX_FOOTER:,} are accepted")
    stream.seek(max(0, end - 8 - size))
    return size


def _row_groups(stream: BinaryIO) -> list[list[dict[int, Any]]]:
    """Return what the description says about each column of each row group.

    pyarrow knows it too, but ends the process if some of it is damaged.
    """
    try:
        groups = CompactReader(stream.read(_seek_footer(stream))).struct()[_ROW_GROUPS]
        return [[_struct(column, _CHUNK) for column in group[1]] for group in groups]
    except (IndexError, KeyError, TypeError):
        raise ValueError("its description is damaged") from None


def plan_reading(stream: BinaryIO, file: Any, names: Collection[str], *, most: int = MAX_ROWS) -> ReadingPlan:
    """Return how to read some columns in bounded memory, at most `most` rows at once.

    Raise ValueError if that is not possible.

    A dictionary makes a long value from one byte, as often as the file says. So values stay in dictionaries, if all
    pages of a column use one. pyarrow would collect the values of other pages in a dictionary that grows with the file:
    such a column is read in batches that are short enough.
    """
    rows, size = file.metadata.num_rows, stream.seek(0, SEEK_END)
    if rows > MAX_ROWS_PER_BYTE * size:
        raise ValueError(f"it declares {rows:,} rows in {size:,} bytes")
    groups = _row_groups(stream)
    needed: Counter[str] = Counter()
    dictionaries: list[str] = []
    repeated = 0  # bytes that one row may repeat
    unpacked = 0  # bytes of all values
    for place in range(len(file.schema)):
        leaf = file.schema.column(place)
        name = next((name for name in names if f"{leaf.path}.".startswith(f"{name}.")), None)
        if name is None:
            continue
        if any(place >= len(group) for group in groups):
            raise ValueError("a row group without all columns")
        is_list = leaf.physical_type == _TEXT and bool(leaf.max_repetition_level)
        pages = _largest([read_pages(stream, group[place], with_longest=is_list) for group in groups])
        _check_column(name, leaf, pages)
        if pages.repeated:  # a batch has rows of three row groups at most
            most = min([most, *(file.metadata.row_group(k).num_rows for k in range(len(groups) - 1))])
        # Not from the metadata of pyarrow, which ends the process if the statistics of a column are damaged.
        unpacked += sum(_number(group[place], _CHUNK_UNPACKED) for group in groups)
        needed[name] += pages.page + _DICTIONARY_COST * pages.dictionary
        if leaf.physical_type == _TEXT and pages.dictionary:
            if pages.repeated:
                continue
            if pages.has_plain:
                repeated += pages.dictionary
            else:
                dictionaries.append(leaf.path)
    if needed.total() > MAX_PAGES:
        raise ValueError(
            f"its pages need {needed.total():,} bytes, most of them in the column {needed.most_common(1)[0][0]}; "
            f"at most {MAX_PAGES:,} are accepted. Write the file with smaller pages"
        )
    fitting = max(MAX_ROWS, _UNPACKED_BATCH * rows // max(1, 2 * unpacked))
    return ReadingPlan(rows=max(1, min(most, fitting, _UNPACKED_BATCH // max(1, repeated))), dictionaries=dictionaries)


def _largest(chunks: list[ColumnPages]) -> ColumnPages:
    return ColumnPages(
        page=max((chunk.page for chunk in chunks), default=0),
        dictionary=max((chunk.dictionary for chunk in chunks), default=0),
        values=max((chunk.values for chunk in chunks), default=0),
        has_plain=any(chunk.has_plain for chunk in chunks),
        repeated=max((chunk.repeated for chunk in chunks), default=0),
    )


def _check_column(name: str, leaf: Any, pages: ColumnPages) -> None:
    if leaf.length > _MAX_FIXED:
        raise ValueError(f"the column {name} has values of {leaf.length:,} bytes; write them as texts")
    if not leaf.max_repetition_level:
        return
    # A list is read whole, however many values it has.
    if pages.values > MAX_LISTED:
        raise ValueError(
            f"the lists of the column {name} have {pages.values:,} values in a row group; at most {MAX_LISTED:,} are "
            "accepted. Write the file with smaller row groups"
        )
    if pages.repeated > _MAX_REPEATED:
        raise ValueError(
            f"the lists of the column {name} have two encodings and may repeat {pages.repeated:,} bytes; at most "
            f"{_MAX_REPEATED:,} are accepted. Write them with one encoding or in smaller row groups, or as JSON Lines"
        )


def read_pages(stream: BinaryIO, chunk: dict[int, Any], *, with_longest: bool = False) -> ColumnPages:
    """Read the headers of all pages of a column chunk. Raise ValueError if one is not possible.

    `with_longest` reads the values of a dictionary, too, if some pages refer to it and others do not.
    """
    begin = _number(chunk, _DATA_OFFSET)
    if _DICTIONARY_OFFSET in chunk and 0 < (first := _number(chunk, _DICTIONARY_OFFSET)) < begin:
        begin = first
    page = dictionary = values = referring = repeated = 0
    has_plain = False
    dictionaries: list[tuple[int, int, int]] = []  # place, bytes and unpacked bytes
    for header, place_of_data in _headers(stream, begin, _number(chunk, _CHUNK_SIZE)):
        unpacked = _number(header, _UNPACKED)
        if _number(header, _TYPE) == _DICTIONARY:
            dictionary = max(dictionary, unpacked)
            dictionaries.append((place_of_data, _number(header, _PACKED), unpacked))
            if _number(_struct(header, _DICTIONARY_HEADER), 1) > unpacked:
                raise ValueError("a dictionary has more values than bytes")
        elif _DATA in header or _DATA_V2 in header:
            details, place = (_struct(header, _DATA), 2) if _DATA in header else (_struct(header, _DATA_V2), 4)
            page = max(page, unpacked)
            values += _number(details, 1)
            encoding = _number(details, place)
            if encoding not in _PLAIN | _BY_DICTIONARY:
                raise ValueError("an encoding that repeats texts; write the file with plain or dictionary encoding")
            has_plain |= encoding in _PLAIN
            referring += _number(details, 1) if encoding in _BY_DICTIONARY else 0
    if with_longest and has_plain and dictionary and dictionary * _DICTIONARY_COST <= MAX_PAGES:
        longest = max(_longest(stream, *place, codec=_number(chunk, _CODEC)) for place in dictionaries)
        repeated = max(1, referring * longest)
    return ColumnPages(page=page, dictionary=dictionary, values=values, has_plain=has_plain, repeated=repeated)


def _longest(stream: BinaryIO, place: int, packed: int, unpacked: int, *, codec: int) -> int:
    stream.seek(place)
    return longest_value(stream.read(packed), unpacked, codec)


def _headers(stream: BinaryIO, begin: int, size: int) -> Iterator[tuple[dict[int, Any], int]]:
    """Yield the header of each page, and the place of its data."""
    place, end = begin, begin + size
    while place < end:
        header, length = _read_header(stream, place)
        packed = _number(header, _PACKED)
        if packed > end - place + _MISCOUNTED:
            raise ValueError("a page whose size is not possible")
        yield header, place + length
        place += length + packed


def _number(fields: dict[int, Any], field: int) -> int:
    found = fields.get(field)
    if not isinstance(found, int) or found < 0:
        raise ValueError("a page header without its sizes")
    return found


def _struct(fields: dict[int, Any], field: int) -> dict[int, Any]:
    found = fields.get(field)
    if not isinstance(found, dict):
        raise ValueError("a page header without its details")
    return found


def _read_header(stream: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    for size in _HEADER_SIZES:
        stream.seek(place)
        data = stream.read(size)
        reader = CompactReader(data)
        try:
            return reader.struct(), reader.place
        except IndexError:
            if len(data) < size:
                break
    raise ValueError("a page without a complete header")
