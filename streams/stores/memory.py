"""The store of an embedded stream, in the memory of this process."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from streams.core.campaign.state import TABLES, StoredCampaign, decode_judge, decode_meta, join_meta
from streams.errors import Conflict, ForeignCampaign
from streams.stores.base import (
    SEEN_SEARCHED,
    Lease,
    StagedCampaign,
    encode_head,
    partition_state,
    persist_each,
    survey_by_loading,
)
from streams.stores.completeness import checked, find_missing_rows
from streams.stores.memory_partitions import MemoryPartition, MemoryPartitions
from streams.stores.workers import MemoryWorkers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from streams.core.campaign.state import CampaignChange, CampaignMeta, JudgeRow, Tables
    from streams.stores.commit import Commit, PartitionState
    from streams.wire.outputs import Output


@dataclass
class _Campaign:
    partition: str
    epoch: int
    offset: int = -1
    meta: bytes = b""
    status: bytes | None = None
    tables: Tables = field(default_factory=lambda: {table: {} for table in TABLES})
    scores: dict[str, float] = field(default_factory=dict)
    seen: deque[str] = field(default_factory=deque)
    outbox: tuple[Output, ...] = ()
    requests: dict[str, bytes] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)  # the sizes of the tables as of the last write
    position: int = 0  # in the log, of a campaign that is staged

    @property
    def sizes(self) -> dict[str, int]:
        """The present sizes of the tables."""
        sizes = {table: len(rows) for table, rows in self.tables.items()}
        return sizes | {"requests": len(self.requests), "seen": len(self.seen), "leaderboard": len(self.scores)}

    @property
    def whole_meta(self) -> bytes:
        """The meta with the status and the outstanding match requests."""
        return join_meta(self.meta, self.status, self.requests.values())


class MemoryStore(MemoryPartitions, MemoryWorkers):
    """Stores the state as long as the process lives."""

    survey = survey_by_loading
    persist_all = persist_each

    def __init__(self) -> None:
        super().__init__()
        self._campaigns: dict[str, _Campaign] = {}
        self._staged: dict[str, _Campaign] = {}

    def open(self, partition: str) -> tuple[Lease, PartitionState]:
        """Take a partition over with a new epoch."""
        kept = self._partitions.setdefault(partition, MemoryPartition())
        # Its campaigns are in earlier epochs, unless the partition was lost or came back older.
        kept.epoch = 1 + max(
            [kept.epoch, *(each.epoch for each in self._campaigns.values() if each.partition == partition)]
        )
        if kept.rows is not None and kept.rows != len(kept.campaigns):
            # Nobody knows which campaigns there were. The log is read again, and campaigns skip what they have.
            kept.next_offset, kept.head, kept.rows = 0, {}, None
        campaigns = tuple(sorted(kept.campaigns))
        state = partition_state(self.read_partition(partition), campaigns=campaigns, outbox=kept.outbox)
        return Lease(partition, kept.epoch), state

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        """Return a campaign's state and make the lease its writer."""
        kept, partition = self._campaigns.get(campaign), self._owned(lease)
        if kept is not None:
            if kept.partition != lease.partition:
                raise ForeignCampaign(campaign, kept.partition)
            if kept.epoch > lease.epoch:
                raise Conflict(f"{lease.partition}: its head was lost or came back older: the next epoch is later")
            kept.epoch = lease.epoch
        return checked(self.read(campaign), partition.campaigns.get(campaign))

    def persist(self, lease: Lease, commit: Commit) -> None:
        """Write all changes of a batch, or none."""
        partition = self._owned(lease)
        if (partition.epoch, partition.next_offset) == (lease.epoch, commit.after):
            return
        if (partition.epoch, partition.next_offset) != (lease.epoch, commit.before):
            raise Conflict(f"{lease.partition}: at {partition.next_offset}, not at {commit.before}")
        if partition.rows is not None and partition.rows != len(partition.campaigns):
            raise Conflict(f"{lease.partition}: the list of its campaigns is lost")
        for change in commit.campaigns:
            _check(self._campaigns, lease, change)
        for change in commit.campaigns:
            _write(self._campaigns, lease, change)
            if change.whole:
                self._staged.pop(change.campaign, None)
        partition.next_offset, partition.head = commit.after, encode_head(commit)
        partition.campaigns |= {change.campaign: str(change.after) for change in commit.campaigns}
        partition.rows = len(partition.campaigns)
        partition.outbox = commit.outbox

    def amend(self, lease: Lease, change: CampaignChange) -> None:
        """Write a change of one campaign that no record has made."""
        self._owned(lease)
        _check(self._campaigns, lease, change)
        _write(self._campaigns, lease, change)

    def stage(self, lease: Lease, change: CampaignChange, *, position: int) -> None:
        """Write a change beside the live state of a campaign."""
        self._owned(lease)
        kept = self._staged.get(change.campaign)
        if change.before >= 0:
            if kept is not None and (kept.epoch, kept.offset) == (lease.epoch, change.after):
                return
            _check(self._staged, lease, change)
        _write(self._staged, lease, change)
        self._staged[change.campaign].position = position

    def read_staged(self, lease: Lease, campaign: str) -> StagedCampaign | None:
        """Return what is staged of a campaign and make the lease its writer."""
        self._owned(lease)
        kept = self._staged.get(campaign)
        if kept is None or kept.partition != lease.partition:
            return None
        kept.epoch = lease.epoch
        return StagedCampaign(state=_stored(kept), step=kept.offset, position=kept.position)

    def swap_staged(self, lease: Lease, campaign: str, *, offset: int) -> None:
        """Swap what is staged in for the live state."""
        partition = self._owned(lease)
        kept = self._staged.get(campaign)
        if kept is None or kept.epoch != lease.epoch:
            raise Conflict(f"campaign {campaign!r}: nothing was staged in epoch {lease.epoch}")
        kept.offset = offset
        self._campaigns[campaign] = self._staged.pop(campaign)
        self._list(partition, campaign, str(offset))

    def drop_staged(self, lease: Lease, campaign: str) -> None:
        """Remove what is staged of a campaign."""
        self._owned(lease)
        self._staged.pop(campaign, None)

    def remove(self, lease: Lease, campaign: str) -> None:
        """Remove a campaign of which the log has no record."""
        self._list(self._owned(lease), campaign, None)
        self._staged.pop(campaign, None)
        self._campaigns.pop(campaign, None)

    def read(self, campaign: str, *, with_seen: bool = True) -> StoredCampaign | None:
        """Return a campaign's state."""
        kept = self._campaigns.get(campaign)
        return None if kept is None else _stored(kept, with_seen=with_seen)

    def read_meta(self, campaign: str) -> CampaignMeta | None:
        """Return a campaign's state except its tables."""
        kept = self._campaigns.get(campaign)
        return None if kept is None else decode_meta(campaign, kept.whole_meta)

    def read_judge(self, campaign: str, judge: str) -> JudgeRow | None:
        """Return the row of one judge."""
        kept = self._campaigns.get(campaign)
        row = None if kept is None else kept.tables["judges"].get(judge)
        return None if row is None else decode_judge(campaign, row)

    def has_seen(self, campaign: str, event: str) -> bool:
        """Return whether an id is among the last ids that a campaign has seen."""
        kept = self._campaigns.get(campaign)
        return kept is not None and event in islice(reversed(kept.seen), SEEN_SEARCHED)

    def read_head(self, campaign: str) -> dict[str, str]:
        """Return the epoch, partition and offset of a campaign."""
        kept = self._campaigns.get(campaign)
        if kept is None:
            return {}
        return {"epoch": str(kept.epoch), "partition": kept.partition, "offset": str(kept.offset)}

    def read_partition(self, partition: str) -> dict[str, str]:
        """Return the epoch, offset and counts of a partition."""
        kept = self._partitions.get(partition)
        if kept is None:
            return {}
        return {"epoch": str(kept.epoch), "offset": str(kept.next_offset), **kept.head}

    def list_campaigns(self, partitions: Iterable[str]) -> list[str]:
        """Return the campaigns of some partitions, sorted."""
        return sorted(
            name for each in partitions if each in self._partitions for name in self._partitions[each].campaigns
        )

    def _list(self, partition: MemoryPartition, campaign: str, offset: str | None) -> None:
        """List a campaign with its offset, or remove it from the list."""
        if partition.rows not in (None, len(partition.campaigns)):
            raise Conflict("the list of the partition's campaigns is lost")
        partition.campaigns.pop(campaign, None)
        partition.campaigns |= {} if offset is None else {campaign: offset}
        partition.rows = partition.rows and len(partition.campaigns)

    def find_problems(self, partition: str) -> dict[str, str]:
        """Return the campaigns whose state is lost, not complete or older than the partition knows, and why."""
        kept = self._partitions.get(partition, MemoryPartition())
        found = {name: checked(self.read(name), listed) for name, listed in kept.campaigns.items()}
        return {name: stored.problem for name, stored in found.items() if stored and stored.problem}

    def verify(self, lease: Lease, offset: int, campaigns: Mapping[str, int]) -> None:
        """Raise Conflict if the partition or a campaign is not at its offset, or not complete."""
        partition = self._partitions.get(lease.partition, MemoryPartition())
        if partition.next_offset != offset or partition.rows not in (None, len(partition.campaigns)):
            raise Conflict(f"{lease.partition}: the store is at {partition.next_offset}, and was left at {offset}")
        for name, left in campaigns.items():
            kept = self._campaigns.get(name)
            if kept is None or kept.offset != left or find_missing_rows(kept.rows, kept.sizes):
                raise Conflict(f"{lease.partition}: the campaign {name!r} is not as it was left at {left}")


def _check(campaigns: dict[str, _Campaign], lease: Lease, change: CampaignChange) -> None:
    kept = campaigns.get(change.campaign)
    offset = kept.offset if kept else -1
    if (kept and (kept.partition, kept.epoch) != (lease.partition, lease.epoch)) or offset != change.before:
        raise Conflict(f"campaign {change.campaign!r}: at {offset}, not at {change.before}")
    if kept and change.tables and (missing := find_missing_rows(kept.rows, kept.sizes)):
        raise Conflict(f"campaign {change.campaign!r}: {missing}")


def _write(campaigns: dict[str, _Campaign], lease: Lease, change: CampaignChange) -> None:
    if change.whole:
        campaigns.pop(change.campaign, None)
    kept = campaigns.setdefault(change.campaign, _Campaign(lease.partition, lease.epoch))
    kept.offset, kept.meta, kept.outbox = change.after, change.meta, change.outbox
    kept.status = kept.status if change.status is None else change.status
    for table, names in change.removed.items():
        for name in names:
            kept.tables[table].pop(name, None)
    for table, rows in change.tables.items():
        kept.tables[table].update(rows)
    for request in change.ended:
        kept.requests.pop(request, None)
    kept.requests.update(change.requests)
    kept.scores.update(change.scores)
    for system in change.withdrawn:
        kept.scores.pop(system, None)
    if change.seen.count:
        if kept.seen.maxlen != change.seen_ids:
            kept.seen = deque(kept.seen, change.seen_ids)
        kept.seen.extend(change.seen.ids())
    if change.tables:
        kept.rows = kept.sizes


def _stored(kept: _Campaign, *, with_seen: bool = True) -> StoredCampaign:
    return StoredCampaign(
        meta=kept.whole_meta,
        tables={table: dict(rows) for table, rows in kept.tables.items()},
        scores=dict(kept.scores),
        seen=tuple(kept.seen) if with_seen else (),
        outbox=kept.outbox,
        offset=kept.offset,
        problem=find_missing_rows(kept.rows, kept.sizes),
    )
