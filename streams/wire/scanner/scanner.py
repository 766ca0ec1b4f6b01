"""From bytes to columns: JSON Lines of usual rankings, scanned without an object per judgment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.wire.campaign_names import is_campaign_name
from streams.wire.scanner import kernels
from streams.wire.scanner.columns import JudgmentColumns
from streams.wire.scanner.kernels.hash_tables import FULL
from streams.wire.scanner.kernels.lines import ROWS
from streams.wire.scanner.kernels.text import PADDING
from streams.wire.scanner.name_table import NameTable
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_MIN_LINE = 60  # bytes: no judgment is shorter
_MAX_NAMES = 20_000  # of records: whoever sends ever new names must not fill the memory


class Scanner:
    """Scans the blocks of one log. A name has the same number in all blocks.

    >>> line = b'{"id":"1","campaign":"c","segment":"s","judge":"j","systems":["a","b"],"ranks":[1,2],'
    >>> columns = Scanner().scan(line + b'"at":"2024-05-06T07:08:09Z"}' + bytes([10]))
    >>> [columns.names[number] for number in columns.systems], columns[0].judge
    (['a', 'b'], 'j')
    """

    def __init__(self) -> None:
        self._quotes = np.zeros(0, np.int64)
        self._forget_names()

    def _forget_names(self) -> None:
        self._table = NameTable()
        self._valid_campaigns: set[int] = set()

    def scan(self, data: bytes, lines: int | None = None) -> JudgmentColumns | None:
        """Return the judgments of whole lines as columns, or None if any line needs the complete decoder.

        The data consists of one JSON object per line, and ends with a line feed. A line needs the decoder if it is
        not a usual ranking: a command, a score, an escaped character, an unknown field, or a mistake. A caller
        that knows the number of lines passes it, because counting takes time.
        """
        count = data.count(b"\n") if lines is None else lines
        if count == 0 or len(data) < _MIN_LINE * count or not data.endswith(b"\n") or not _is_utf8(data):
            return None
        begins = np.zeros(count + 1, np.int64)
        begins[1:] = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        begins[1:] += 1
        columns = self.scan_lines(data, begins)
        return columns if len(columns) == count else None

    def scan_records(self, values: Sequence[bytes | None], *, max_bytes: int) -> JudgmentColumns | None:
        """Return the usual rankings among the values of records as columns, or None if there are none.

        The property `lines` has their places. All other records need the complete decoder.
        """
        if len(self._table.names) > _MAX_NAMES:
            self._forget_names()
        texts = [value or b"" for value in (*values, None)]
        if max(map(len, texts)) > max_bytes:
            texts = [b"" if len(text) > max_bytes else text for text in texts]
        data = b"\n".join(texts)
        if not _is_utf8(data):
            texts = [text if _is_utf8(text) else b"" for text in texts]
            data = b"\n".join(texts)
        begins = np.zeros(len(texts), np.int64)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts) - 1)
        np.cumsum(sizes + 1, out=begins[1:])
        columns = self.scan_lines(data, begins)
        return columns if len(columns) else None

    def scan_lines(self, data: bytes, begins: Ints) -> JudgmentColumns:
        """Return the usual lines of UTF-8 data as columns. `begins` has the places of all lines, and the end."""
        size, count = len(data), len(begins) - 1
        longest = int(np.diff(begins).max(initial=0))
        if longest + 2 > len(self._quotes):
            self._quotes = np.empty(longest + 2, np.int64)
        rows, starts = np.empty((ROWS, count), np.int64), np.empty(count + 1, np.int64)
        systems, ranks = np.empty((2, size // 4), np.int64)
        padded = np.frombuffer(data + bytes(PADDING), np.uint8)
        while True:
            found = kernels.compiled("lines").scan_lines(
                padded,
                size,
                begins,
                self._quotes,
                SEED,
                *self._table.arrays,
                rows,
                starts,
                systems,
                ranks,
            )
            if found != FULL:
                break
            self._table.grow()
        self._table.read_new()
        if found < count:
            rows, starts = np.ascontiguousarray(rows[:, :found]), starts[: found + 1]
        members = int(starts[-1])
        columns = JudgmentColumns(
            data=data,
            names=self._table.names,
            begins=begins,
            rows=rows,
            starts=starts,
            systems=systems[:members].copy(),
            ranks=ranks[:members].copy(),
        )
        return self._with_valid_campaigns(columns)

    def _with_valid_campaigns(self, columns: JudgmentColumns) -> JudgmentColumns:
        """Return the columns without the judgments whose campaign has no valid name."""
        numbers = columns.campaigns
        unchecked = set(numbers.tolist()) - self._valid_campaigns
        invalid = {number for number in unchecked if not is_campaign_name(self._table.names[number])}
        self._valid_campaigns |= unchecked - invalid
        return columns.select(np.flatnonzero(~np.isin(numbers, list(invalid)))) if invalid else columns


def _is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
