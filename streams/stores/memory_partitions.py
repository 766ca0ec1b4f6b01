"""What the memory store keeps of each partition: its head and campaigns, gaps in the log, and late outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec.structs import replace

from streams.errors import Fenced
from streams.stores.gaps import gaps_to_show, new_gap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.stores.base import Lease
    from streams.stores.gaps import Gap
    from streams.wire.outputs import Output


@dataclass
class MemoryPartition:
    """One partition."""

    epoch: int = 0
    next_offset: int = 0
    head: dict[str, str] = field(default_factory=dict)
    campaigns: dict[str, str] = field(default_factory=dict)  # their offsets as of the partition's
    rows: int | None = None  # the number of campaigns
    outbox: tuple[Output, ...] = ()
    late: str = ""
    gaps: dict[int, Gap] = field(default_factory=dict)  # by start


class MemoryPartitions:
    """The part of the memory store that knows partitions."""

    def __init__(self) -> None:
        super().__init__()
        self._partitions: dict[str, MemoryPartition] = {}

    def _owned(self, lease: Lease) -> MemoryPartition:
        """Return a partition. Raise Fenced if the lease has ended."""
        partition = self._partitions.setdefault(lease.partition, MemoryPartition())
        if partition.epoch > lease.epoch:
            raise Fenced(f"{lease.partition}: epoch {lease.epoch} is over, now {partition.epoch}")
        return partition

    def report_gap(self, lease: Lease, start: int, end: int) -> Gap:
        """Write down that records were deleted before they were read."""
        kept = self._owned(lease)
        if start not in kept.gaps or kept.gaps[start].end != end:
            kept.gaps[start] = new_gap(start, end)
        return kept.gaps[start]

    def accept_gap(self, partition: str, start: int, end: int) -> bool:
        """Write down an operator's word that the partition goes on without these records."""
        gaps = self._partitions[partition].gaps if partition in self._partitions else {}
        if start not in gaps or gaps[start].end != end:
            return False
        if gaps[start].accepted is None:
            gaps[start] = replace(gaps[start], accepted=datetime.now(UTC))
        return True

    def read_gaps(self, partition: str) -> list[Gap]:
        """Return the gaps that were accepted, and the one at which the partition is stopped."""
        kept = self._partitions.get(partition, MemoryPartition())
        return gaps_to_show(kept.gaps.values(), offset=kept.next_offset)

    def check_lease(self, lease: Lease) -> None:
        """Raise Fenced if the partition has a new owner."""
        self._owned(lease)

    def check_leases(self, leases: Sequence[Lease]) -> list[Fenced | None]:
        """Return the error of each lease whose partition has a new owner."""
        errors: list[Fenced | None] = []
        for lease in leases:
            try:
                self._owned(lease)
                errors.append(None)
            except Fenced as error:
                errors.append(error)
        return errors

    def report_late(self, partition: str) -> None:
        """Write down that a former owner has emitted outputs after it had lost a partition."""
        self._partitions[partition].late = uuid4().hex

    def read_late(self, partition: str) -> str:
        """Return the report of late outputs, or nothing."""
        return self._partitions[partition].late if partition in self._partitions else ""

    def clear_late(self, partition: str, report: str) -> None:
        """Remove a report of late outputs, unless there is a newer one."""
        if self._partitions[partition].late == report:
            self._partitions[partition].late = ""
