"""The first bytes of a log, looked at as a table and as JSON, so that each format can say whether it knows them."""

from __future__ import annotations

import csv
import re
from functools import cached_property

DELIMITERS = ",\t;"

_TOKEN = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"(\s*+:)?|[\[\]{}]', re.DOTALL)


class FileHead:
    """What the beginning of a file shows."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.start = data.lstrip()[:1]

    @cached_property
    def delimiter(self) -> str:
        """Say what stands between the cells of the first line."""
        return max(DELIMITERS, key=self._first_line.count)

    @cached_property
    def columns(self) -> frozenset[str]:
        """Name the columns, in lower case, as if the first line were the header of a table."""
        if self.start in (b"", b"{", b"[", b"<"):
            return frozenset()
        try:
            (cells,) = csv.reader([self._first_line], delimiter=self.delimiter, strict=True)
        except (csv.Error, ValueError):
            return frozenset()
        return frozenset(cell.strip().lower() for cell in cells)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Name the keys of the first JSON object, alone or in an array; it may be cut off."""
        if self.start not in (b"{", b"["):
            return frozenset()
        found: set[str] = set()
        depth = -1 if self.start == b"[" else 0
        for token in _TOKEN.finditer(self.data):
            if token[0] in (b"{", b"["):
                depth += 1
            elif token[0] in (b"}", b"]"):
                depth -= 1
                if depth <= 0:
                    break
            elif depth == 1 and token[2]:
                found.add(token[1].decode(errors="replace"))
        return frozenset(found)

    @property
    def in_lines(self) -> bool:
        """Say whether the first line is a JSON object of its own, or too long to see its end."""
        line, newline, _ = self.data.lstrip().partition(b"\n")
        return self.start == b"{" and (not newline or line.rstrip().endswith(b"}"))

    @property
    def _first_line(self) -> str:
        return self.data.partition(b"\n")[0].decode(errors="replace").rstrip("\r")
