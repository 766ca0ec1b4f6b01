"""The store of the embedded way: the promises of a store, in this process's memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streams.errors import Conflict, Fenced, ForeignCampaign
from streams.state import TABLES, PartitionState, StoredCampaign
from streams.stores.base import Lease

if TYPE_CHECKING:
    from streams.state import CampaignChange, Commit, Output, Tables


@dataclass
class _Partition:
    epoch: int = 0
    next_offset: int = 0
    read: int = 0
    rejected: int = 0
    campaigns: set[str] = field(default_factory=set)
    outbox: tuple[Output, ...] = ()


@dataclass
class _Campaign:
    partition: str
    epoch: int
    offset: int = -1
    meta: bytes = b""
    tables: Tables = field(default_factory=lambda: {table: {} for table in TABLES})
    scores: dict[str, float] = field(default_factory=dict)
    seen: tuple[str, ...] = ()
    outbox: tuple[Output, ...] = ()


class MemoryStore:
    """Keeps what it is given as long as the process lives."""

    def __init__(self) -> None:
        self._partitions: dict[str, _Partition] = {}
        self._campaigns: dict[str, _Campaign] = {}

    def open(self, partition: str) -> tuple[Lease, PartitionState]:
        """Take a partition over."""
        kept = self._partitions.setdefault(partition, _Partition())
        kept.epoch += 1
        return Lease(partition, kept.epoch), PartitionState(
            next_offset=kept.next_offset,
            read=kept.read,
            rejected=kept.rejected,
            campaigns=tuple(sorted(kept.campaigns)),
            outbox=kept.outbox,
        )

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        """Give a campaign's state."""
        kept = self._campaigns.get(campaign)
        if kept is None:
            return None
        if kept.partition != lease.partition:
            raise ForeignCampaign(campaign, kept.partition)
        if kept.epoch > lease.epoch:
            raise Fenced(f"{lease.partition}: epoch {lease.epoch} is over, now {kept.epoch}")
        kept.epoch = lease.epoch
        tables = {table: dict(rows) for table, rows in kept.tables.items()}
        return StoredCampaign(meta=kept.meta, tables=tables, seen=kept.seen, outbox=kept.outbox)

    def persist(self, lease: Lease, commit: Commit) -> None:
        """Write a batch."""
        partition = self._partitions[lease.partition]
        if partition.epoch != lease.epoch:
            raise Fenced(f"{lease.partition}: epoch {lease.epoch} is over, now {partition.epoch}")
        if partition.next_offset == commit.after:
            return
        if partition.next_offset != commit.before:
            raise Conflict(f"{lease.partition}: at {partition.next_offset}, not at {commit.before}")
        for change in commit.campaigns:
            self._check(lease, change)
        for change in commit.campaigns:
            self._write(lease, change)
        partition.next_offset, partition.read, partition.rejected = commit.after, commit.read, commit.rejected
        partition.campaigns |= {change.campaign for change in commit.campaigns}
        partition.outbox = commit.outbox

    def _check(self, lease: Lease, change: CampaignChange) -> None:
        kept = self._campaigns.get(change.campaign)
        offset = kept.offset if kept else -1
        if (kept and (kept.partition, kept.epoch) != (lease.partition, lease.epoch)) or offset != change.before:
            raise Conflict(f"campaign {change.campaign!r}: at {offset}, not at {change.before}")

    def _write(self, lease: Lease, change: CampaignChange) -> None:
        if change.whole:
            self._campaigns.pop(change.campaign, None)
        kept = self._campaigns.setdefault(change.campaign, _Campaign(lease.partition, lease.epoch))
        kept.offset, kept.meta, kept.outbox = change.after, change.meta, change.outbox
        for table, rows in change.tables.items():
            kept.tables[table].update(rows)
        kept.scores.update(change.scores)
        for system in change.withdrawn:
            kept.scores.pop(system, None)
        kept.seen = (*kept.seen, *change.seen)[-change.seen_ids :]
