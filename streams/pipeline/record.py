"""A raw record of the log, and the fingerprint by which a worker recognizes its log."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Record(NamedTuple):
    """One raw record of the log."""

    offset: int
    key: bytes | None
    value: bytes | None
    written_at: float | None = None  # when the broker wrote it, in seconds since 1970; None: unknown
    is_forwarded: bool = False  # a worker has moved it here from another partition


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
