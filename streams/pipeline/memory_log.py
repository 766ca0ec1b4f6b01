"""The in-process log of an embedded stream: topics with partitions, offsets and keys, like Kafka's."""

from __future__ import annotations

from collections import defaultdict
from zlib import crc32

from streams.pipeline.record import Record
from streams.wire.outputs import FORWARDED_FROM, Output


class MemoryLog:
    """Appends and reads records.

    >>> log = MemoryLog()
    >>> log.append("judgments.v1", b"c", b"{}")
    (0, 0)
    >>> log.read("judgments.v1", 0, start=0, limit=10)
    [Record(offset=0, key=b'c', value=b'{}', written_at=None, is_forwarded=False)]
    """

    def __init__(self, partitions: int = 1) -> None:
        self.partitions = partitions
        self._records: defaultdict[tuple[str, int], list[Record]] = defaultdict(list)

    def append(
        self, topic: str, key: bytes | None, value: bytes | None, *, partition: int | None = None
    ) -> tuple[int, int]:
        """Append a record, to the partition of its key unless one is given. Return its partition and offset."""
        if partition is None:
            partition = crc32(key or b"") % self.partitions
        records = self._records[topic, partition]
        records.append(Record(len(records), key, value))
        return partition, len(records) - 1

    def append_output(self, output: Output) -> None:
        """Append what a processor emits."""
        partition, offset = self.append(output.topic, output.key, output.sent_value, partition=output.partition)
        if any(name == FORWARDED_FROM for name, _ in output.headers):
            records = self._records[output.topic, partition]
            records[offset] = records[offset]._replace(is_forwarded=True)

    def read(self, topic: str, partition: int, *, start: int, limit: int) -> list[Record]:
        """Return up to `limit` records of a partition."""
        return self._records[topic, partition][start : start + limit]

    def end(self, topic: str, partition: int) -> int:
        """Return the offset that the next record will have."""
        return len(self._records[topic, partition])

    def all(self, topic: str) -> list[Record]:
        """Return all records of a topic, partition after partition."""
        return [record for partition in range(self.partitions) for record in self._records[topic, partition]]
