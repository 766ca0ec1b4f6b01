"""The cells of some rows of a table, as places in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.wire.scanner import kernels
from streams.wire.scanner.kernels.text import LINE_FEED, PADDING
from streams.wire.scanner.kernels.times import WRITTEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bytes = NDArray[np.uint8]

_DIGITS = 19  # of the largest number
LONGEST_ROW = 100_000  # bytes; `csv` refuses cells that are longer than 131,072 characters


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells of rows that follow each other. `begins[c, r]` and `ends[c, r]` are the place of a cell in the data.

    `values` returns what the complete reader has in the cells of some rows. `row_ends` are their ends in the data.
    """

    data: bytes  # with padding
    begins: Ints
    ends: Ints
    row_ends: Ints
    values: Callable[[Sequence[int]], Sequence[Sequence[object]]]

    def __len__(self) -> int:
        return int(self.begins.shape[1])


def split_block(block: bytes, *, delimiter: str, columns: Sequence[int], width: int, most: int) -> Cells:
    """Return the cells of these columns in the first rows of a block, up to a row that is not usual."""
    distinct = list(dict.fromkeys(columns))  # two columns of the reader may be the same one of the table
    kept = np.full(width, -1, np.int64)
    kept[distinct] = np.arange(len(distinct))
    data = block + bytes(PADDING)
    letters = np.frombuffer(data, np.uint8)
    most = min(int(np.count_nonzero(letters == LINE_FEED)), most)  # takes a quarter of the time of `bytes.count`
    begins, ends = np.empty((2, len(distinct), most), np.int64)
    row_ends = np.zeros(most, np.int64)
    found: int = kernels.compiled("cells").split_cells(
        letters, _valid_size(block), ord(delimiter), width, kept, begins, ends, row_ends
    )
    if len(distinct) < len(columns):
        begins, ends = (array[[distinct.index(column) for column in columns]] for array in (begins, ends))
    longest = np.diff(row_ends[:found], prepend=0) > LONGEST_ROW
    found = int(longest.argmax()) if longest.any() else found
    begins, ends = (np.ascontiguousarray(array[:, :found]) for array in (begins, ends))
    return cells_of_texts(data, begins, ends, row_ends[:found])


def cells_of_texts(data: bytes, begins: Ints, ends: Ints, row_ends: Ints) -> Cells:
    """Return cells whose values are their texts."""

    def texts(rows: Sequence[int]) -> list[list[str]]:
        places = zip(begins[:, rows].T.tolist(), ends[:, rows].T.tolist(), strict=True)
        return [[data[begin:end].decode() for begin, end in zip(*row, strict=True)] for row in places]

    return Cells(data=data, begins=begins, ends=ends, row_ends=row_ends, values=texts)


def _valid_size(block: bytes) -> int:
    """Return the size of the lines before the first one that is not UTF-8."""
    if block.isascii():
        return len(block)
    try:
        block.decode()
    except UnicodeDecodeError as error:
        return block.rfind(b"\n", 0, error.start) + 1
    return len(block)


class TextPool:
    """Bytes with texts in several places. A text is a pair of numbers, its begin and its end."""

    def __init__(self, data: bytes) -> None:
        self._parts = [data]
        self._size = len(data)

    def add(self, text: bytes) -> tuple[int, int]:
        """Add a text. Return its place."""
        self._parts.append(text)
        self._size += len(text)
        return self._size - len(text), self._size

    def content(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._parts)

    def add_all(self, texts: Sequence[bytes]) -> tuple[Ints, Ints]:
        """Add texts. Return their begins and their ends."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        begin, _ = self.add(b"".join(texts))
        ends = begin + np.cumsum(sizes)
        return ends - sizes, ends

    def add_times(self, times: Ints) -> tuple[Ints, Ints]:
        """Add times as on the wire, given as microseconds since 1970. Return their begins and their ends."""
        texts = np.empty((len(times), WRITTEN), np.uint8)
        kernels.compiled("times").write_times(times, texts)
        begin, _ = self.add(texts.tobytes())
        begins = begin + WRITTEN * np.arange(len(times))
        return begins, begins + WRITTEN

    def add_numbers(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Add numbers that are not negative, as decimal texts. Return their begins and their ends."""
        texts, ends = np.empty(_DIGITS * len(numbers), np.uint8), np.empty(len(numbers), np.int64)
        size = kernels.compiled("times").write_numbers(numbers, texts, ends)
        begin, _ = self.add(texts[:size].tobytes())
        return begin + np.append(0, ends[:-1]), begin + ends

    def join(self, parts: Sequence[tuple[Ints | int, Ints | int]], count: int) -> tuple[bytes, Ints]:
        """Join parts to `count` texts. A part has the places of one text for each, or of one for all.

        Return the texts, and the end of each.
        """
        begins, ends = np.empty((2, len(parts), count), np.int64)
        for k, (begin, end) in enumerate(parts):
            begins[k], ends[k] = begin, end
        texts, text_ends = np.empty(int((ends - begins).sum()), np.uint8), np.empty(count, np.int64)
        data = np.frombuffer(self.content(), np.uint8)
        kernels.compiled("cells").join_texts(data, begins, ends, texts, text_ends)
        return texts.tobytes(), text_ends
