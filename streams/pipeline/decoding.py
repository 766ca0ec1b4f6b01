"""The records of a batch as events: decoded, and in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.compiler import is_loaded
from streams.errors import RecordError
from streams.wire.decoding import decode, decode_all
from streams.wire.times import FUTURE, are_in_time, check_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.pipeline.record import Record, RecordBlock
    from streams.wire.events import Command, Judgment
    from streams.wire.scanner import JudgmentColumns, Scanner

FEWEST_SCANNED = 32  # records of a campaign: fewer are decoded sooner than arrays are made
WORTH_SCANNING = 20_000  # records from which loading the scanner pays


def decode_record(record: Record, *, max_bytes: int) -> Judgment | Command:
    """Return the event of a record. Raise RecordError if it is not valid, or from the future."""
    event = decode(record.value, max_bytes=max_bytes)
    check_time(event, record.written_at)
    return event


def scan_records(records: RecordBlock, scanner: Scanner, *, max_bytes: int) -> JudgmentColumns | None:
    """Return the usual rankings of a batch as columns, or None if there are few. `decode_records` does the rest."""
    if len(records) < (FEWEST_SCANNED if is_loaded() else WORTH_SCANNING):
        return None
    columns = scanner.scan_records(records.raw_values, max_bytes=max_bytes)
    if columns is None:
        return None
    written_at = np.array(records.written_at, np.float64)[columns.lines]  # an unknown time is not a number
    from_future = columns.times / 1e6 > written_at + FUTURE.total_seconds()
    if from_future.any():
        columns = columns.select(np.flatnonzero(~from_future))
    return columns if len(columns) >= FEWEST_SCANNED else None


def decode_records(
    records: RecordBlock,
    rejections: dict[int, RecordError],
    *,
    max_bytes: int,
    scanned: JudgmentColumns | None = None,
) -> Iterable[tuple[int, Judgment | Command]]:
    """Return the events of records by offset, except those that were scanned.

    Add an error to `rejections` for each record that is no event.
    """
    if scanned is None:
        judgments = decode_all(records.raw_values, max_bytes=max_bytes)
        if judgments is not None and are_in_time(judgments, records.written_at):
            return zip(records.offsets, judgments, strict=True)
    is_left = np.ones(len(records), np.bool_)
    if scanned is not None:
        is_left[scanned.lines] = False
    events: list[tuple[int, Judgment | Command]] = []
    for place in np.flatnonzero(is_left).tolist():
        record = records.at(place)
        try:
            events.append((record.offset, decode_record(record, max_bytes=max_bytes)))
        except RecordError as error:
            rejections[record.offset] = error
    return events
