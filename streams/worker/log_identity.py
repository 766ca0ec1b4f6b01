"""The check that a partition in Kafka is the log that the state in Redis was made from, and has no gap after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.errors import LogGap, WrongLog
from streams.pipeline.record import Record, record_fingerprint
from streams.stores.gaps import describe_gap

if TYPE_CHECKING:
    from streams.kafka.inspecting import LogInspector
    from streams.kafka.partitions import Partition

# A broker that has just started may report an earlier end for a moment: it is asked so often again.
MAX_SHORT_ENDS = 2
# A transaction that is open for longer is worth a word. Kafka ends one of a dead producer after a minute by default.
LONG_TRANSACTION_SECONDS = 90.0


class LogIdentity:
    """What is known of one partition's log. A topic that was deleted and created again is noticed."""

    def __init__(self, partition: Partition) -> None:
        self.end: int | None = None  # where the log ended when the broker was last asked
        self._partition = partition
        self._short_ends = 0  # how often in a row the log ended before the state
        self._open_transaction: tuple[int, float] | None = None  # its offset, and when it was first seen

    async def is_confirmed(self, inspector: LogInspector, *, offset: int, fingerprint: str) -> bool:
        """Find the last applied record in the log. Return False if the broker does not show it now.

        `offset` is where the state ends: after that record, and after offsets without one. Raise WrongLog if the log
        holds another record in its place, and LogGap if it has records no more that come after it.
        """
        partition = self._partition
        self.end = (await inspector.end_offsets([partition]))[partition]
        beginning = await self.check_reachable(inspector, offset)
        if not self.reaches(offset, end=self.end):
            return False
        last = int(fingerprint.partition(":")[0] or -1)
        if last < beginning:
            return True  # no record was applied yet, or the last one is gone from the log by now
        found, position = await inspector.find_record(partition, last, end=self.end)
        if found is None:
            # An earlier version may have applied a record that was aborted. It is passed over now.
            return position > last
        record = Record(found.offset, found.key, found.value)
        if record.offset <= last and record_fingerprint(record) != fingerprint:
            raise self.wrong_log(f"it holds another record at offset {record.offset}")
        return True

    async def check_reachable(self, inspector: LogInspector, offset: int) -> int:
        """Raise LogGap if records from an offset on were deleted. Return the beginning of the log.

        Kafka deletes records only from the beginning of a log. So offsets that are missing after the beginning belong
        to transactions: they are markers, or records that were aborted.
        """
        beginning = (await inspector.beginning_offsets([self._partition]))[self._partition]
        self.check_beginning(offset, beginning=beginning)
        return beginning

    def check_beginning(self, offset: int, *, beginning: int) -> None:
        """Raise LogGap if a log that begins there has lost records from an offset on."""
        if beginning > offset:
            raise LogGap(describe_gap(str(self._partition), offset, beginning), start=offset, end=beginning)

    def reaches(self, offset: int, *, end: int) -> bool:
        """Return whether the log reaches the offset of the state. Raise WrongLog if it repeatedly does not."""
        self._short_ends = 0 if end >= offset else self._short_ends + 1
        if self._short_ends > MAX_SHORT_ENDS:
            raise self.wrong_log(f"it ends at offset {end}, and the state at {offset}")
        return not self._short_ends

    def find_open_transaction(self, *, end: int, written: int | None, now: float) -> str | None:
        """Return for which transaction the reading waits, if it has been open for long.

        `end` is the offset up to which the log can be read, and `written` is where it ends.
        """
        if written is None or written <= end:
            self._open_transaction = None
            return None
        if self._open_transaction is None or self._open_transaction[0] != end:
            self._open_transaction = end, now
        if now - self._open_transaction[1] < LONG_TRANSACTION_SECONDS:
            return None
        return (
            f"{self._partition} waits at offset {end} for a transaction that is open, with all records after it. "
            'Nothing is lost. If its producer is gone, abort it: docs/operations.md, "When a transaction stays open"'
        )

    def wrong_log(self, reason: str) -> WrongLog:
        """Return the error that stops the partition."""
        return WrongLog(
            f"{self._partition} is not the log that the state in Redis was made from: {reason}. "
            "Was the topic deleted and created again? Bring the old topic back, or give the new one a namespace of "
            "its own. To drop the old state, delete the keys of this namespace in Redis: the log is then rated again"
        )
