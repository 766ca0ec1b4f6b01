"""Read CSV row by row, in bounded memory. A bad row is reported with its line, and reading continues."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from streams.errors import FormatError, RecordError
from streams.formats.input.head import FileHead
from streams.formats.limits import MAX_LINE
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from streams.formats.input.line_buffer import LineBuffer
    from streams.formats.input.sources import Source

Cells = list[str]


class Table:
    """A CSV table with a header. Its delimiter (one of `,;|`, tab, space) is recognised from the first lines.

    A column without a name has its number as its name: `#1` is the first one.
    """

    def __init__(
        self, source: Source | LineBuffer, *, required: Collection[str], kind: str, may_repeat: bool = False
    ) -> None:
        self._source = source
        self._lines = _Lines(source)
        self.delimiter = delimiter = FileHead(source.head).delimiter
        self._reader = csv.reader(self._lines, delimiter=delimiter, skipinitialspace=delimiter == " ", strict=True)
        try:
            header = next(self._reader, [])
        except csv.Error as error:
            raise FormatError(f"{source.name}:1: the header can't be read: {error}") from None
        if self._lines.broken:
            raise FormatError(f"{source.name}:1: the header is {self._lines.broken}")
        self.header = [cell.strip() or f"#{number}" for number, cell in enumerate(header, start=1)]
        names = [cell.lower() for cell in self.header]
        if missing := [name for name in required if name not in names]:
            raise FormatError(f"{source.name}:1: no column {', '.join(missing)}; this is not {kind}")
        self.columns = {name: place for place, name in enumerate(names)}
        if may_repeat:
            return
        if twice := next((name for place, name in enumerate(names) if self.columns[name] != place), None):
            raise FormatError(f"{source.name}:1: two columns are named {quote(twice)}")

    @property
    def next_line(self) -> int:
        """The number of the line on which the next row begins."""
        return self._lines.number + 1

    @property
    def is_inside_line(self) -> bool:
        """Whether the next row begins after a carriage return in the same line."""
        return self._lines.is_inside_line

    def skip_lines(self, count: int) -> None:
        """Count lines that were read elsewhere. The next row begins after them."""
        self._lines.number += count

    def rows(self) -> Iterator[tuple[int, Cells | RecordError]]:
        """Yield the cells of every row, with the line on which it begins."""
        lines, width = self._lines, len(self.header)
        while True:
            lines.begin()
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                reason = f"not CSV: {error}" if lines.span == 1 else f"not CSV, up to line {lines.number}: {error}"
                yield lines.first, RecordError("invalid_value", reason)
                continue
            if lines.broken:
                yield lines.first, RecordError("invalid_utf8", lines.broken)
            elif len(cells) == width:
                yield lines.first, cells
            elif cells:
                reason = f"{len(cells)} cells, but the header has {width}"
                yield lines.first, RecordError("length_mismatch", reason)


class _Lines:
    """The lines of a source as text. A row may span several lines, up to MAX_LINE bytes."""

    def __init__(self, source: Source | LineBuffer) -> None:
        self._source = source
        self._bytes = 0
        self._parts: list[bytes] = []  # the rest of a line, in reverse
        self.number = 0
        self.begin()

    def begin(self) -> None:
        """Start a new row at the next line, or after a carriage return in the same line."""
        self.first = self.number + (not self._parts)
        self.broken: str | None = None
        self._bytes = 0

    @property
    def is_inside_line(self) -> bool:
        """Return whether the rest of a line is left."""
        return bool(self._parts)

    @property
    def span(self) -> int:
        """Return the number of lines of the row."""
        return self.number - self.first + 1

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._parts.pop() if self._parts else self._read()
        self._bytes += len(line)
        if self._bytes > MAX_LINE:
            what = "a line" if self.span == 1 else "a row (is a quote not closed?)"
            raise FormatError(f"{self._source.name}:{self.first}: {what} of more than {MAX_LINE:,} bytes")
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            self.broken = (
                f"not UTF-8: {error.reason} at byte {error.start} of line {self.number}; "
                "choose its encoding with --encoding, for example latin-1 or gbk"
            )
            return line.decode(errors="replace")

    def _read(self) -> bytes:
        """Return the next line. A carriage return alone ends a row too, unless it is in quotes: `csv` decides it."""
        line = self._source.readline(MAX_LINE + 1)
        if not line:
            raise StopIteration
        self.number += 1
        if b"\r" in line and len(line) <= MAX_LINE:
            first, *self._parts = line.splitlines(keepends=True)
            self._parts.reverse()
            return first
        return line
