"""Structs of Thrift's compact protocol, in which a Parquet file describes itself."""

from __future__ import annotations

from typing import Any

_MAX_NESTING = 20  # of a header


class CompactReader:
    """Reads a struct of Thrift's compact protocol. Raises IndexError where the data ends."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._nested = 0
        self.place = 0

    def struct(self) -> dict[int, Any]:
        """Return the fields by their numbers. Texts are skipped."""
        self._enter()
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) & 15:
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = head & 15 == 1 if head & 15 <= 2 else self._value(head & 15)
        self._nested -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._varint())
        if kind in (9, 10):
            return self._list()
        if kind == 12:
            return self.struct()
        raise ValueError("a page header of an unknown kind")

    def _list(self) -> list[Any]:
        self._enter()
        head = self._byte()
        found = []
        for _ in range(self._varint() if head >> 4 == 15 else head >> 4):
            found.append(self._value(head & 15))  # noqa: PERF401 - ends at the end of the data, whatever the length is
        self._nested -= 1
        return found

    def _enter(self) -> None:
        self._nested += 1
        if self._nested > _MAX_NESTING:
            raise ValueError("a header that is nested too deep")

    def _byte(self) -> int:
        self.place += 1
        return self._data[self.place - 1]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a page header with a number that is too long")
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, size: int) -> None:
        self.place += size
        if self.place > len(self._data):
            raise IndexError
