"""Inspect the first bytes of a log as a table and as JSON, so that a format can recognise them."""

from __future__ import annotations

import csv
import re
from functools import cached_property

DELIMITERS = ",\t;|"

_LINES = 20  # that are inspected to find the delimiter

# A string that is not closed is one token up to the end. If it were none, the search would start again at each quote.
_TOKEN = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(\s*+:)?)?|[\[\]{}]', re.DOTALL)


class FileHead:
    """The beginning of a file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.start = data.lstrip()[:1]

    @cached_property
    def delimiter(self) -> str:
        """Return the delimiter between the cells: the one that gives most rows as many cells as the header has.

        A space counts only if the header has no other delimiter.
        """
        found = max(DELIMITERS, key=self._fit)
        return found if self._fit(found) > (0.0, 0) else " " if " " in self._first_line.strip() else found

    def _fit(self, delimiter: str) -> tuple[float, int]:
        """Return the share of rows that are as wide as the header, and its width. Both are 0 if it has one cell."""
        lines = self.data.decode(errors="replace").splitlines()[:_LINES]
        try:
            rows = list(csv.reader(lines, delimiter=delimiter))
        except csv.Error:
            rows = [self._first_line.split(delimiter)]
        header, *others = rows or [[]]
        if len(header) < 2:
            return 0.0, 0
        complete = others[:-1] or others  # the last row may be cut
        return sum(len(row) == len(header) for row in complete) / len(complete) if complete else 1.0, len(header)

    @cached_property
    def columns(self) -> frozenset[str]:
        """Return the names in the first line, in lower case, as if it were the header of a table."""
        if self.start in (b"", b"{", b"[", b"<"):
            return frozenset()
        try:
            (cells,) = csv.reader(
                [self._first_line], delimiter=self.delimiter, skipinitialspace=self.delimiter == " ", strict=True
            )
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
