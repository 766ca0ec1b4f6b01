"""The log in Kafka, read one partition at a time from its beginning, for what has to be rated again."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from streams.errors import HistoryGone
from streams.kafka.connection import consumer_group
from streams.kafka.partitions import Partition
from streams.kafka.reading import open_reader
from streams.kafka.records import raw_records
from streams.wire.topics import JUDGMENTS, MAX_LOG_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from streams.kafka.reading import Reader
    from streams.pipeline.record import Record
    from streams.settings import Settings


class PartitionedLog:
    """The log in Kafka. Its first record must still be there."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self._reader = reader
        self._batch_records = settings.batch_records
        self.topic = JUDGMENTS.within(settings.namespace)

    @classmethod
    @contextmanager
    def open(cls, settings: Settings) -> Iterator[PartitionedLog]:
        """Connect, and disconnect at the end."""
        with open_reader(settings, group=consumer_group(settings), max_fetch_bytes=MAX_LOG_BYTES) as reader:
            yield cls(settings, reader)

    def name(self, number: int) -> str:
        """Return the name that a partition has in the store."""
        return str(Partition(self.topic, number))

    def end(self, number: int) -> int:
        """Return the offset up to which a partition can be read."""
        partition = Partition(self.topic, number)
        beginning = self._reader.beginnings([partition])[partition]
        if beginning > 0:
            raise HistoryGone(
                f"{partition} begins at offset {beginning}: the records before it are gone, and without them the "
                "state can't be rebuilt; keep the log forever (check with: judgestream topics)"
            )
        return self._reader.ends([partition])[partition]

    def offset_since(self, number: int, moment: datetime) -> int:
        """Return the offset of the first record at or after a time of the broker. If there is none, return the end."""
        partition = Partition(self.topic, number)
        found = self._reader.since([partition], moment)[partition]
        return self._reader.ends([partition])[partition] if found is None else found

    def committed(self, number: int) -> int:
        """Return the offset that the workers have committed: everything before it is emitted."""
        return self._reader.committed(Partition(self.topic, number))

    def read(self, number: int, start: int, before: int) -> Iterator[list[Record]]:
        """Read a partition from an offset to before another, in batches."""
        partition = Partition(self.topic, number)
        for _, records in self._reader.read({partition: start}, {partition: before}, max_records=self._batch_records):
            yield raw_records(records)


def read_log(settings: Settings, number: int, start: int, before: int) -> Iterator[list[Record]]:
    """Read the records of a partition between two offsets, in a thread that has no event loop of its own.

    Raise HistoryGone if the beginning of the partition is gone.
    """
    with PartitionedLog.open(settings) as log:
        log.end(number)
        yield from log.read(number, start, before)
