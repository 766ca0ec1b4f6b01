"""Excel files (xlsx): the first visible sheet is read as CSV, row by row.

Only the shared texts of the file are in memory. The parts of the file are decompressed piece by piece.
"""

from __future__ import annotations

import csv
import io
import posixpath
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, BinaryIO

from streams.errors import FormatError
from streams.formats.input.archives import WORKBOOK, open_member
from streams.formats.input.workbook_xml import Attributes, SheetPart
from streams.formats.limits import MAX_LINE, MAX_SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zipfile import ZipFile

    from _typeshed import WriteableBuffer

_COLUMN = re.compile(r"([A-Z]{1,3})\d{1,7}")
_MOST_COLUMNS = 16_384
_MOST_ROWS = 2**20
# Formats of numbers that are dates: built-in ones, and those with a day, month, year, hour or second in them.
_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_NOT_DATE = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|general', re.IGNORECASE)
_DATE = re.compile(r"[ymdhs]", re.IGNORECASE)


def open_workbook(archive: ZipFile, name: str) -> tuple[BinaryIO, str | None]:
    """Return the first visible sheet as CSV, and a note if there are other sheets, which are not read."""
    sheets, is_1904 = _list_sheets(archive, name)
    if not sheets:
        raise FormatError(f"{name}: the xlsx file has no visible sheet")
    title, member = sheets[0]
    note = f"only the first of {len(sheets)} sheets is read: {title!r}" if len(sheets) > 1 else None
    rows = _SheetReader(archive, name, member, is_1904=is_1904).lines()
    return io.BufferedReader(_LineStream(rows), 2**16), note


def _list_sheets(archive: ZipFile, name: str) -> tuple[list[tuple[str, str]], bool]:
    """Return the titles and members of the visible sheets, and whether dates count from 1904."""
    targets: dict[str, str] = {}
    base = posixpath.dirname(WORKBOOK)
    for tag, attributes, _ in _elements(archive, name, f"{base}/_rels/workbook.xml.rels"):
        if tag == "Relationship" and attributes.get("Type", "").endswith("/worksheet"):
            target = attributes.get("Target", "")
            targets[attributes.get("Id", "")] = posixpath.normpath(posixpath.join("/", base, target)).lstrip("/")
    sheets, is_1904 = [], False
    for tag, attributes, _ in _elements(archive, name, WORKBOOK):
        if tag == "workbookPr":
            is_1904 = attributes.get("date1904") in ("1", "true")
        elif tag == "sheet" and attributes.get("state", "visible") == "visible" and attributes.get("id") in targets:
            sheets.append((attributes.get("name", ""), targets[attributes["id"]]))
    return sheets, is_1904


def _elements(archive: ZipFile, name: str, member: str) -> Iterator[tuple[str, Attributes, str]]:
    """Yield the elements of a part when they end, with their attributes and the text that is directly in them."""
    if member not in archive.namelist():
        return
    with open_member(archive, member, name) as stream:
        yield from SheetPart(stream, f"{name}/{member}").elements()


class _SheetReader:
    def __init__(self, archive: ZipFile, name: str, member: str, *, is_1904: bool) -> None:
        self._archive, self._name, self._member = archive, name, member
        self._epoch = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)  # Excel has no zones
        self._shared = list(self._read_shared())
        self._dates = self._read_date_styles()

    def lines(self) -> Iterator[bytes]:
        """Yield the rows as lines of CSV. A row that is missing is an empty line, so that rows keep their numbers."""
        cells: dict[int, str] = {}
        column = row = width = 0
        text: list[str] = []
        for tag, attributes, found in _elements(self._archive, self._name, self._member):
            if tag in ("v", "t"):
                text.append(found)
            elif tag == "c":
                column = _column(attributes.get("r", "")) or column + 1
                if column > _MOST_COLUMNS:
                    raise self._error(row, f"more than {_MOST_COLUMNS:,} columns")
                cells[column] = self._value("".join(text), attributes, row)
                text.clear()
            elif tag == "row":
                number = attributes.get("r", "")
                missing = int(number) - row - 1 if number.isdecimal() and len(number) < 8 else 0
                if width and 0 < missing < _MOST_ROWS:
                    yield b"\n" * missing
                    row += missing
                row += 1
                line, width = self._line(cells, width, row)
                yield line
                cells, column = {}, 0

    def _line(self, cells: dict[int, str], width: int, row: int) -> tuple[bytes, int]:
        """Return a row as CSV. It is at least as wide as the first row, which is the header."""
        filled = [column for column, value in cells.items() if value]
        if not filled:
            return (b"\n" if width else b""), width
        width = width or max(filled)
        if sum(map(len, cells.values())) > MAX_LINE:
            raise self._error(row, f"a row of more than {MAX_LINE:,} characters")
        out = io.StringIO()
        values = [cells.get(column, "") for column in range(1, max(width, *filled) + 1)]
        csv.writer(out, lineterminator="\n").writerow(values)
        return out.getvalue().encode(errors="surrogatepass"), width

    def _value(self, text: str, attributes: Attributes, row: int) -> str:
        kind = attributes.get("t", "n")
        if kind == "s":
            if not text.isdecimal() or int(text) >= len(self._shared):
                raise self._error(row, "a cell with a text that the file does not have")
            return self._shared[int(text)]
        if kind == "b":
            return {"1": "true", "0": "false"}.get(text, text)
        if kind == "n" and text and attributes.get("s", "0") in self._dates:
            try:
                return (self._epoch + timedelta(days=float(text))).isoformat()
            except (ValueError, OverflowError):
                return text
        return text

    def _read_shared(self) -> Iterator[str]:
        text: list[str] = []
        size = 0
        for tag, _, found in _elements(self._archive, self._name, "xl/sharedStrings.xml"):
            if tag == "t":
                text.append(found)
            elif tag == "rPh":  # how a text is spoken, in Japanese
                text = text[:-1]
            elif tag == "si":
                size += sum(map(len, text)) + 50  # an object of Python takes some bytes, too
                if size > MAX_SHARED:
                    raise FormatError(f"{self._name}: the texts of the xlsx file are too long; save it as CSV")
                yield "".join(text)
                text.clear()

    def _read_date_styles(self) -> frozenset[str]:
        """Return the numbers of the styles that show a number as a date."""
        formats = set(_DATE_FORMATS)
        styles: list[int] = []
        pending: list[int] = []
        for tag, attributes, _ in _elements(self._archive, self._name, "xl/styles.xml"):
            number = attributes.get("numFmtId", "")
            if (
                tag == "numFmt"
                and number.isdecimal()
                and _DATE.search(_NOT_DATE.sub("", attributes.get("formatCode", "")))
            ):
                formats.add(int(number[:9]))
            elif tag == "xf":
                pending.append(int(number[:9]) if number.isdecimal() else 0)
            elif tag in ("cellStyleXfs", "cellXfs"):
                styles, pending = pending, []
        return frozenset(str(place) for place, number in enumerate(styles) if number in formats)

    def _error(self, row: int, message: str) -> FormatError:
        return FormatError(f"{self._name}, row {row + 1}: {message}")


def _column(reference: str) -> int:
    """Return the number of the column of a cell.

    >>> _column("A1"), _column("AB12"), _column("")
    (1, 28, 0)
    """
    found = _COLUMN.fullmatch(reference)
    number = 0
    for letter in found[1] if found else "":
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


class _LineStream(io.RawIOBase):
    """Lines as a stream."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines, self._ready = lines, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready and (line := next(self._lines, None)) is not None:
            self._ready = line
        data, self._ready = self._ready[: len(view)], self._ready[len(view) :]
        view[: len(data)] = data
        return len(data)
