"""Raw records of the log, and the fingerprint by which a worker recognizes its log."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Record(NamedTuple):
    """One raw record of the log."""

    offset: int
    key: bytes | None
    value: bytes | None
    written_at: float | None = None  # when the broker wrote it, in seconds since 1970; None: unknown
    is_forwarded: bool = False  # a worker has moved it here from another partition


@dataclass(frozen=True, kw_only=True)
class RecordBlock(Mapping[int, Record]):
    """Records of one partition by offset, in order. They are columns: a Record is made when it is asked for.

    >>> block = RecordBlock.of([Record(4, None, b"a"), Record(7, b"k", b"b")])
    >>> block[7].value, list(block), len(block.since(5))
    (b'b', [4, 7], 1)
    """

    offsets: Sequence[int]
    raw_keys: Sequence[bytes | None]
    raw_values: Sequence[bytes | None]
    written_at: Sequence[float | None]
    forwarded: frozenset[int] = frozenset()  # offsets of those that a worker has moved here

    @classmethod
    def of(cls, records: Iterable[Record] | RecordBlock) -> RecordBlock:
        """Return records as a block."""
        if isinstance(records, RecordBlock):
            return records
        given = list(records)
        return cls(
            offsets=[record.offset for record in given],
            raw_keys=[record.key for record in given],
            raw_values=[record.value for record in given],
            written_at=[record.written_at for record in given],
            forwarded=frozenset(record.offset for record in given if record.is_forwarded),
        )

    def __len__(self) -> int:
        return len(self.offsets)

    def __iter__(self) -> Iterator[int]:
        return iter(self.offsets)

    def __getitem__(self, offset: int) -> Record:
        place = bisect_left(self.offsets, offset)
        if place == len(self.offsets) or self.offsets[place] != offset:
            raise KeyError(offset)
        return self.at(place)

    def at(self, place: int) -> Record:
        """Return the record at a place, counted from 0. The last one is at -1."""
        offset = self.offsets[place]
        return Record(
            offset, self.raw_keys[place], self.raw_values[place], self.written_at[place], offset in self.forwarded
        )

    def since(self, offset: int) -> RecordBlock:
        """Return the records from an offset on."""
        return self._part(slice(bisect_left(self.offsets, offset), None))

    def before(self, offset: int) -> RecordBlock:
        """Return the records before an offset."""
        return self._part(slice(bisect_left(self.offsets, offset)))

    def _part(self, part: slice) -> RecordBlock:
        if len(self.offsets[part]) == len(self):
            return self
        return RecordBlock(
            offsets=self.offsets[part],
            raw_keys=self.raw_keys[part],
            raw_values=self.raw_values[part],
            written_at=self.written_at[part],
            forwarded=self.forwarded,
        )


def find_time(records: Mapping[int, Record], offset: int) -> float | None:
    """Return when the broker wrote the record at an offset, if that is known."""
    return records[offset].written_at


def record_fingerprint(record: Record) -> str:
    """Return the record's offset and a hash of its key and value.

    >>> record_fingerprint(Record(3, b"c", b"{}")) == record_fingerprint(Record(3, b"c", b"[]"))
    False
    """
    content = blake2b(repr((record.key, record.value)).encode(), digest_size=8).hexdigest()
    return f"{record.offset}:{content}"
