"""The records of a batch as events: decoded, and in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import RecordError
from streams.wire.decoding import decode, decode_all
from streams.wire.times import are_in_time, check_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from streams.pipeline.record import Record
    from streams.wire.events import Command, Judgment


def decode_record(record: Record, *, max_bytes: int) -> Judgment | Command:
    """Return the event of a record. Raise RecordError if it is not valid, or from the future."""
    event = decode(record.value, max_bytes=max_bytes)
    check_time(event, record.written_at)
    return event


def decode_records(
    records: Mapping[int, Record], rejections: dict[int, RecordError], *, max_bytes: int
) -> Iterable[tuple[int, Judgment | Command]]:
    """Return the events of records by offset, and add an error to `rejections` for each record that is none."""
    judgments = decode_all([record.value for record in records.values()], max_bytes=max_bytes)
    if judgments is not None and are_in_time(judgments, (record.written_at for record in records.values())):
        return zip(records, judgments, strict=True)
    events: list[tuple[int, Judgment | Command]] = []
    for offset, record in records.items():
        try:
            events.append((offset, decode_record(record, max_bytes=max_bytes)))
        except RecordError as error:
            rejections[offset] = error
    return events
