"""The check that a partition in Kafka is the log that the state in Redis was made from."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from streams.errors import WrongLog
from streams.pipeline.record import Record, record_fingerprint

if TYPE_CHECKING:
    from streams.kafka.consumers import Consumer
    from streams.kafka.partitions import Partition

log = logging.getLogger(__name__)

FETCH_MS = 5000
# A broker that has just started may report an earlier end for a moment: it is asked so often again.
MAX_SHORT_ENDS = 2


class LogIdentity:
    """What is known of one partition's log. A topic that was deleted and created again is noticed."""

    def __init__(self, partition: Partition) -> None:
        self.end: int | None = None  # where the log ended when the broker was last asked
        self._partition = partition
        self._short_ends = 0  # how often in a row the log ended before the state

    async def is_confirmed(self, consumer: Consumer, *, offset: int, fingerprint: str) -> bool:
        """Find the last applied record in the log. Return False if the broker does not show it now.

        `offset` is the offset after that record. Raise WrongLog if the log holds another record in its place. The
        consumer's position in the partition is changed.
        """
        partition = self._partition
        beginning = (await consumer.beginning_offsets([partition]))[partition]
        self.end = (await consumer.end_offsets([partition]))[partition]
        if beginning > offset == 0:
            log.warning(
                "%s begins at offset %d: the records before it are gone, and are not in the state",
                partition,
                beginning,
                extra={"topic": partition.topic, "partition": partition.number},
            )
        elif beginning > offset:
            raise self.wrong_log(f"it begins at offset {beginning}, and the state ends at {offset}")
        if not self.reaches(offset, end=self.end):
            return False
        last = int(fingerprint.partition(":")[0] or -1)
        if last < beginning:
            return True  # no record was applied yet, or the last one is gone from the log by now
        consumer.seek(partition, last)
        found = (await consumer.fetch(partition, timeout_ms=FETCH_MS, max_records=1)).get(partition)
        if not found:
            return False
        record = Record(found[0].offset, found[0].key, found[0].value)
        if record.offset <= last and record_fingerprint(record) != fingerprint:
            raise self.wrong_log(f"it holds another record at offset {record.offset}")
        return True

    def reaches(self, offset: int, *, end: int) -> bool:
        """Return whether the log reaches the offset of the state. Raise WrongLog if it repeatedly does not."""
        self._short_ends = 0 if end >= offset else self._short_ends + 1
        if self._short_ends > MAX_SHORT_ENDS:
            raise self.wrong_log(f"it ends at offset {end}, and the state at {offset}")
        return not self._short_ends

    def wrong_log(self, reason: str) -> WrongLog:
        """Return the error that stops the worker."""
        return WrongLog(
            f"{self._partition} is not the log that the state in Redis was made from: {reason}. "
            "Was the topic deleted and created again? Bring the old topic back, or give the new one a namespace of "
            "its own. To drop the old state, delete the keys of this namespace in Redis: the log is then rated again"
        )
