"""A source that shows its next lines before they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.formats.limits import MAX_LINE

if TYPE_CHECKING:
    from streams.formats.input.sources import Source


class LineBuffer:
    """The lines of a source. `peek` returns some of them, `skip` passes over them, and `readline` reads one."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._data = b""
        self._place = 0
        self.name, self.head = source.name, source.head

    def peek(self, size: int) -> bytes:
        """Return the next whole lines, of about `size` bytes. There are none at the end, or if a line is too long."""
        while len(self._data) - self._place < size and self._fill():
            pass
        end = self._data.rfind(b"\n", self._place, self._place + size) + 1
        while not end and len(self._data) - self._place <= MAX_LINE and self._fill():
            end = self._data.find(b"\n", self._place) + 1
        return self._data[self._place : end or self._place]

    def skip(self, size: int) -> None:
        """Pass over bytes that `peek` has returned."""
        self._place += size

    def readline(self, limit: int) -> bytes:
        """Return the rest of the line, but at most `limit` bytes."""
        end = self._data.find(b"\n", self._place) + 1
        while not end and len(self._data) - self._place < limit and self._fill():
            end = self._data.find(b"\n", self._place) + 1
        begin = self._place
        self._place = min(end or len(self._data), begin + limit)
        return self._data[begin : self._place]

    def _fill(self) -> bool:
        more = self._source.read()
        if more:
            self._data, self._place = self._data[self._place :] + more, 0
        return bool(more)
