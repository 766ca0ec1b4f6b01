"""The time in which a worker owns a partition, from the loading of its state until nothing more may be written."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from math import inf
from time import time
from typing import TYPE_CHECKING

from streams.stores.commit import MOST_ROWS
from streams.worker.log_identity import LogIdentity

if TYPE_CHECKING:
    from streams.kafka.partitions import Partition
    from streams.pipeline.processor import Processor

FIRST_RECORDS = 2_000  # of a batch whose rows nothing tells yet: among many systems a judgment writes three or more
FEWEST_RECORDS = 100  # to which a batch may be limited
MOST_TIMES = 4  # a batch may be so many times as large as the last one: duplicates write no row


class Abandoned(Exception):  # noqa: N818 - it names a condition
    """The ownership is over: what is not persisted will be read again, by the next owner."""


class Phase(Enum):
    """The phases of an ownership, in their order. A phase may be skipped, and none comes back."""

    OPENING = auto()  # the state is loaded, and the log is compared with it
    OPEN = auto()  # the partition is read and rated
    CLOSING = auto()  # the batch in hand may end, and no other begins
    OVER = auto()  # nothing more is written


@dataclass(eq=False)
class PartitionOwnership:
    """One partition of this worker. It has a processor from when its state is loaded."""

    partition: Partition
    phase: Phase = Phase.OPENING
    read_offset: int = 0  # the offset that the log should return next
    most_records: int = FIRST_RECORDS  # of the next batch
    is_measured: bool = False  # whether a batch has told how many rows its records write
    chosen_at: float = -inf  # when match requests of many systems were last chosen, on the monotonic clock
    checked_offset: int = -1  # the persisted offset at the last check
    applied_at: float = field(default_factory=time)  # when the applied offset last moved
    log: LogIdentity = field(init=False)
    _processor: Processor | None = None

    def __post_init__(self) -> None:
        self.log = LogIdentity(self.partition)

    @property
    def processor(self) -> Processor:
        """Return the processor that rates the partition."""
        assert self._processor is not None, f"{self.partition} is not loaded"
        return self._processor

    @property
    def is_opening(self) -> bool:
        """Return whether the partition is not read yet."""
        return self.phase is Phase.OPENING

    @property
    def is_open(self) -> bool:
        """Return whether a new batch may begin."""
        return self.phase is Phase.OPEN

    @property
    def may_write(self) -> bool:
        """Return whether there is a processor that may still write."""
        return self.phase in (Phase.OPEN, Phase.CLOSING)

    @property
    def is_loaded(self) -> bool:
        """Return whether the state is known, also if the partition is stopped."""
        return self._processor is not None and self.phase is not Phase.OVER

    def load(self, processor: Processor) -> None:
        """Keep the processor. The log is compared with its state next."""
        self._processor = processor

    def open(self, processor: Processor) -> None:
        """Begin to read the partition."""
        assert self.phase is Phase.OPENING
        self.load(processor)
        self.read_offset = processor.next_offset
        self.applied_at = time()
        self.phase = Phase.OPEN

    def limit_batches(self, records: int, rows: int) -> None:
        """Limit the next batches to the records that write MOST_ROWS rows of one campaign, as the last batch tells.

        Among many systems each judgment writes rows of its own, and the store answers nobody during a write.
        """
        most = min(records * MOST_ROWS // max(rows, 1), MOST_TIMES * records)
        # In a small batch few judgments share rows. Its rows per record are too many, so it lowers no limit.
        if most > self.most_records or rows > MOST_ROWS // 2:
            self.most_records = max(FEWEST_RECORDS, most)
        self.is_measured = True

    def close(self) -> None:
        """Begin no more batch. An ownership that is still opening is over at once."""
        if self.phase is Phase.OPENING:
            self.phase = Phase.OVER
        elif self.phase is Phase.OPEN:
            self.phase = Phase.CLOSING

    def end(self) -> None:
        """Write nothing more."""
        self.phase = Phase.OVER

    def check_not_over(self) -> None:
        """Raise Abandoned if nothing more may be written."""
        if self.phase is Phase.OVER:
            raise Abandoned

    def log_fields(self) -> dict[str, object]:
        """Return the partition and its offset as fields of a log line."""
        offset = None if self._processor is None else self._processor.persisted_offset
        return {"topic": self.partition.topic, "partition": self.partition.number, "offset": offset}
