"""Records as a consumer returns them, turned into raw records of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.pipeline.record import Record, RecordBlock
from streams.wire.outputs import FORWARDED_FROM

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.kafka.consumers import FetchedRecord

# With any other type (CreateTime) the timestamp is the producer's.
LOG_APPEND_TIME = 1


def raw_records(fetched: Iterable[FetchedRecord]) -> list[Record]:
    """Return the raw records. A timestamp that the broker did not set is left out."""
    return [
        Record(
            each.offset,
            each.key,
            each.value,
            each.timestamp / 1000 if each.timestamp_type == LOG_APPEND_TIME else None,
            bool(each.headers) and is_forwarded(each.headers),
        )
        for each in fetched
    ]


def record_block(fetched: Sequence[FetchedRecord]) -> RecordBlock:
    """Return the raw records of one partition as columns. A timestamp that the broker did not set is left out."""
    return RecordBlock(
        offsets=[each.offset for each in fetched],
        raw_keys=[each.key for each in fetched],
        raw_values=[each.value for each in fetched],
        written_at=[each.timestamp / 1000 if each.timestamp_type == LOG_APPEND_TIME else None for each in fetched],
        forwarded=frozenset(each.offset for each in fetched if each.headers and is_forwarded(each.headers)),
    )


def is_forwarded(headers: Sequence[tuple[str, bytes]]) -> bool:
    """Return whether a worker has copied a record here from another partition."""
    return any(name == FORWARDED_FROM for name, _ in headers)
