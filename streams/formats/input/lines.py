"""Read a file line by line, in bounded memory, for tables without a header or with plain quotes."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from streams.errors import FormatError, RecordError
from streams.formats.limits import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.formats.input.head import FileHead
    from streams.formats.input.sources import Source


def read_lines(source: Source) -> Iterator[tuple[int, str | RecordError]]:
    """Yield every line that is not blank, without its end, and its number."""
    number = 0
    while line := source.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise FormatError(f"{source.name}:{number}: a line of more than {MAX_LINE:,} bytes")
        if line.isspace():
            continue
        try:
            yield number, line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            reason = f"not UTF-8: {error.reason} at byte {error.start} of line {number}"
            yield number, RecordError("invalid_utf8", reason)


def first_lines(head: FileHead, *, most: int) -> list[str]:
    """Return the first lines of a table, up to `most`. There is none if the file is JSON, XML or empty.

    A line whose end is beyond the head is left out, unless it is the first.
    """
    if head.start in (b"", b"{", b"[", b"<"):
        return []
    lines = head.data.lstrip().split(b"\n", most)
    kept = lines[: max(1, len(lines) - 1)]
    return [line.decode(errors="replace").rstrip("\r") for line in kept]


def split_csv(line: str, delimiter: str = ",") -> list[str]:
    """Return the cells of a line of CSV, or raise RecordError."""
    try:
        (cells,) = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as error:
        raise RecordError("invalid_value", f"not CSV: {error}") from None
    return cells
