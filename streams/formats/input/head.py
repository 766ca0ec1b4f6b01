"""Inspect the first bytes of a log as a table and as JSON, so that a format can recognise them."""

from __future__ import annotations

import csv
import re
from functools import cached_property

DELIMITERS = ",\t;"

# A string that is not closed is one token up to the end. If it were none, the search would start again at each quote.
_TOKEN = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(\s*+:)?)?|[\[\]{}]', re.DOTALL)


class FileHead:
    """The beginning of a file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.start = data.lstrip()[:1]

    @cached_property
    def delimiter(self) -> str:
        """Return the delimiter between the cells of the first line."""
        return max(DELIMITERS, key=self._first_line.count)

    @cached_property
    def columns(self) -> frozenset[str]:
        """Return the names in the first line, in lower case, as if it were the header of a table."""
        if self.start in (b"", b"{", b"[", b"<"):
            return frozenset()
        try:
            (cells,) = csv.reader([self._first_line], delimiter=self.delimiter, strict=True)
        except (csv.Error, ValueError):
            return frozenset()
        return frozenset(cell.strip().lower() for cell in cells)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the keys of the first JSON object, alone or in an array. The object may be incomplete."""
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
        """Return whether the file has one JSON object per line. A first line without a visible end counts as one."""
        line, newline, _ = self.data.lstrip().partition(b"\n")
        return self.start == b"{" and (not newline or line.rstrip().endswith(b"}"))

    @property
    def _first_line(self) -> str:
        return self.data.partition(b"\n")[0].decode(errors="replace").rstrip("\r")
