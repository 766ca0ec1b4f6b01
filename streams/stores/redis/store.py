"""The store in Redis: tables per campaign, and one atomic call per batch.

In a Redis Cluster all keys of a campaign, and all keys of a partition, lie in one slot. A batch has several campaigns.
So in a cluster a batch takes one atomic call for each, in this order:

1. The partition's head checks that the writer is still its owner, and lists the campaigns of the batch.
2. Each campaign moves from its offset before the batch to the one after, in the writer's epoch or not at all.
3. The partition's head moves last, in the same way.

After a crash or a change of the owner in between, some campaigns are ahead of their partition. Its records are read
again, and those campaigns skip what they have. Their outputs are in their outboxes. A new owner claims the campaigns
that the partition lists, and first those that the former owner has listed and not written yet.
"""

from __future__ import annotations

import logging
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import redis

from streams.core.campaign.state import LAYOUT, decode_judge, decode_meta, join_meta, newer_layout_error
from streams.errors import Conflict, ForeignCampaign, StoreCorrupt
from streams.stores.base import SEEN_SEARCHED, Lease, partition_state, persist_each
from streams.stores.commit import MOST_ROWS
from streams.stores.completeness import ANNOUNCED, checked
from streams.stores.redis import ids, inspection, reading, staged
from streams.stores.redis.client import Client, refusal
from streams.stores.redis.gaps import RedisGaps
from streams.stores.redis.keys import Keys
from streams.stores.redis.late import RedisLate
from streams.stores.redis.outboxes import decode_outbox
from streams.stores.redis.survey import survey
from streams.stores.redis.units import SAME, campaign_unit, partition_unit
from streams.stores.redis.workers import RedisWorkers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from streams.core.campaign.state import CampaignChange, CampaignMeta, JudgeRow, StoredCampaign
    from streams.errors import JudgestreamError
    from streams.stores.commit import Commit, PartitionState
    from streams.stores.redis.units import Unit
    from streams.wire.outputs import Output

log = logging.getLogger(__name__)


class RedisStore(RedisGaps, RedisLate, RedisWorkers):
    """Stores the state in Redis, or in a Redis Cluster if the URL names a node of one.

    No call is retried here. The caller may repeat `persist` and `load`, which change nothing the second time.
    """

    survey = survey
    stage, read_staged, swap_staged = staged.stage, staged.read_staged, staged.swap_staged
    drop_staged, remove = staged.drop_staged, staged.remove

    def __init__(self, url: str, *, namespace: str = "") -> None:
        self.client = Client(url)
        self.keys = Keys(namespace)

    def beside(self, layer: str) -> RedisStore:
        """Return a store on keys of its own in the same slots, on the same connection."""
        store = copy(self)
        store.keys = replace(self.keys, layer=layer)
        return store

    def ping(self) -> str:
        """Return the server's version. Raise StoreUnavailable or SettingError if it can't be used."""
        with self.client.translated_errors():
            info: dict[str, Any] = self.client.first.info("server")
            return f"{info['redis_version']}{' (cluster)' if self.client.is_cluster else ''}"

    def check_eviction(self) -> None:
        """Raise SettingError if the server, or a node of the cluster, may delete keys when its memory is full."""
        self.client.check_eviction()

    def open(self, partition: str) -> tuple[Lease, PartitionState]:
        """Take a partition over with a new epoch. If the list of its campaigns is lost, it begins at offset 0 again."""
        keys = [self.keys.partition(partition, part) for part in ("head", "campaigns", "outbox")]
        status, *found = self.client.run("open", keys=keys, args=[LAYOUT])
        if status == b"NEWER":
            raise newer_layout_error(partition, found[0].decode())
        epoch, fields, listed, outbox, lost = found
        if lost:
            message = "%s: the list of its campaigns is lost (%s); its log is read again from the beginning"
            log.warning(message, partition, lost.decode())
        campaigns = _decode_fields(dict(_pairs(listed)))
        lease = self._outrun(Lease(partition, epoch), inspection.read_latest_epoch(self, partition, campaigns))
        if self.client.is_cluster:
            campaigns = {name: at for name, at in campaigns.items() if at != ANNOUNCED or self._reserve(lease, name)}
        head = _decode_fields(dict(_pairs(fields)))
        return lease, partition_state(head, campaigns=tuple(sorted(campaigns)), outbox=decode_outbox(outbox))

    def _reserve(self, lease: Lease, campaign: str) -> bool:
        """Claim a listed campaign that is not written yet. Remove it from the list if it has another partition."""
        head = self.keys.campaign(campaign, "meta")
        status, _ = self.client.run("reserve", keys=[head], args=[lease.epoch, lease.partition])
        if status == b"FOREIGN":
            self.change_list(lease, campaign, "none")
        return bool(status == b"OK")

    def change_list(self, lease: Lease, campaign: str, offset: int | Literal["new", "none"]) -> None:
        """List a campaign of the partition with its offset. `new` is one that is not written yet, `none` removes it."""
        keys = [self.keys.partition(lease.partition), self.keys.partition(lease.partition, "campaigns")]
        self.client.write("list", lease, keys=keys, args=[campaign, offset])

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        """Return a campaign's state and make the lease its writer."""
        head = self.keys.campaign(campaign, "meta")
        try:
            status, detail = self.client.run("claim", keys=[head], args=[lease.epoch, lease.partition, LAYOUT])
        except StoreCorrupt as error:
            log.warning("campaign %r: its head is no hash, and is removed: %s", campaign, error)
            with self.client.translated_errors():
                self.client.redis.unlink(head)
            status, detail = b"NONE", b""
        if status == b"NEWER":
            raise newer_layout_error(f"campaign {campaign!r}", detail.decode())
        if status == b"FOREIGN":
            raise ForeignCampaign(campaign, detail.decode())
        if status == b"FENCED":
            later = self._outrun(lease, int(detail))
            raise Conflict(
                f"{lease.partition}: its head was lost or came back older; the next epoch is {later.epoch + 1}"
            )
        with self.client.translated_errors():
            listed: bytes | None = self.client.redis.hget(self.keys.partition(lease.partition, "campaigns"), campaign)  # type: ignore[assignment]
        found = None if status == b"NONE" else self.read(campaign)
        return checked(found, None if listed is None else listed.decode())

    def _outrun(self, lease: Lease, latest: int) -> Lease:
        """Return a lease that is later than the latest epoch of the partition's campaigns.

        They are earlier, unless the partition's head was lost or came back older. Raise Fenced if the lease has ended.
        """
        if latest < lease.epoch:
            return lease
        self.client.write("outrun", lease, keys=[self.keys.partition(lease.partition)], args=[latest + 1])
        return Lease(lease.partition, latest + 1)

    def persist(self, lease: Lease, commit: Commit) -> None:
        """Write a batch in one call, or in a cluster in one call per slot."""
        units = self._units(lease, commit)
        if not self.client.is_cluster:
            self.write(lease, units)
            return
        self.client.write(
            "announce",
            lease,
            keys=[self.keys.partition(lease.partition), self.keys.partition(lease.partition, "campaigns")],
            args=[commit.before, commit.after, *(change.campaign for change in commit.campaigns)],
        )
        for unit in units:
            self.write(lease, [unit])

    def amend(self, lease: Lease, change: CampaignChange) -> None:
        """Write a change of one campaign that no record has made, in one call."""
        self.write(lease, [replace(campaign_unit(self.keys, change), before=SAME)])

    def persist_all(self, commits: Sequence[tuple[Lease, Commit]]) -> list[JudgestreamError | None]:
        """Write batches of several partitions in one call, or in a cluster one after the other.

        If they are large, several calls write them, so that Redis answers others in between.
        """
        if self.client.is_cluster or len(commits) < 2:
            return persist_each(self, commits)
        if sum(commit.rows for _, commit in commits) > MOST_ROWS:
            half = len(commits) // 2
            return [*self.persist_all(commits[:half]), *self.persist_all(commits[half:])]
        groups = [(lease, self._units(lease, commit)) for lease, commit in commits]
        try:
            return self._write_all(groups)
        except (StoreCorrupt, redis.ResponseError):
            # One of them has a key of another type. The call may be repeated, and each alone says what is wrong.
            return persist_each(self, commits)

    def _units(self, lease: Lease, commit: Commit) -> list[Unit]:
        campaigns = [campaign_unit(self.keys, change) for change in commit.campaigns]
        return [*campaigns, partition_unit(self.keys, lease.partition, commit)]

    def write(self, lease: Lease, units: Sequence[Unit]) -> None:
        """Write units of one slot, all or none."""
        (error,) = self._write_all([(lease, units)])
        if error is not None:
            raise error

    def _write_all(self, groups: Sequence[tuple[Lease, Sequence[Unit]]]) -> list[JudgestreamError | None]:
        """Write the units of each lease, all or none, in one call."""
        keys: dict[str, None] = {}
        if self.client.is_cluster:  # which finds the node by them
            keys = dict.fromkeys(key for _, units in groups for unit in units for key in unit.touched())
        arguments: list[Any] = []
        for lease, units in groups:
            arguments += (lease.epoch, lease.partition, len(units))
            for unit in units:
                arguments += unit.arguments()
        reply = self.client.run("persist", keys=list(keys), args=arguments)
        return [refusal(lease, *found) for (lease, _), found in zip(groups, _pairs(reply), strict=True)]

    def read(self, campaign: str, *, with_seen: bool = True) -> StoredCampaign | None:
        """Return a campaign's state. `streams.stores.redis.reading` says what a large one that changes looks like."""
        return reading.read_campaign(self, campaign, with_seen=with_seen)

    def read_meta(self, campaign: str) -> CampaignMeta | None:
        """Return a campaign's state except its tables."""
        keys = [self.keys.campaign(campaign, name) for name in ("meta", "requests")]
        (layout, meta, status), requests = self.client.run("meta", keys=keys, args=())
        reading.check_layout(campaign, layout)
        return None if meta is None else decode_meta(campaign, join_meta(meta, status, requests))

    def read_judge(self, campaign: str, judge: str) -> JudgeRow | None:
        """Return the row of one judge."""
        with self.client.translated_errors():
            row: bytes | None = self.client.redis.hget(self.keys.campaign(campaign, "judges"), judge)  # type: ignore[assignment]
        return None if row is None else decode_judge(campaign, row)

    def has_seen(self, campaign: str, event: str) -> bool:
        """Return whether an id is among the last ids that a campaign has seen."""
        with self.client.translated_errors():
            return ids.has_id(self.client.redis, self.keys.campaign(campaign, "seen"), event, searched=SEEN_SEARCHED)

    def read_head(self, campaign: str) -> dict[str, str]:
        """Return the epoch, partition and offset of a campaign."""
        fields = ("epoch", "partition", "offset")
        with self.client.translated_errors():
            found: list[bytes | None] = self.client.redis.hmget(self.keys.campaign(campaign, "meta"), fields)  # type: ignore[assignment]
        return {name: value.decode() for name, value in zip(fields, found, strict=True) if value is not None}

    def read_partition(self, partition: str) -> dict[str, str]:
        """Return the epoch, offset and counts of a partition."""
        with self.client.translated_errors():
            fields: dict[bytes, bytes] = self.client.redis.hgetall(self.keys.partition(partition))  # type: ignore[assignment]
        return _decode_fields(fields)

    def read_outbox(self, partition: str) -> tuple[Output, ...]:
        """Return the outputs of the partition's last batch that belong to no campaign."""
        with self.client.translated_errors():
            return decode_outbox(self.client.redis.get(self.keys.partition(partition, "outbox")))  # type: ignore[arg-type]

    def list_campaigns(self, partitions: Iterable[str]) -> list[str]:
        """Return the campaigns of some partitions, sorted."""
        return sorted(name for partition in partitions for name in inspection.read_list(self, partition))

    def find_problems(self, partition: str) -> dict[str, str]:
        """Return the campaigns whose state is lost, not complete or older than the partition knows, and why."""
        return inspection.find_problems(self, partition)

    def verify(self, lease: Lease, offset: int, campaigns: Mapping[str, int]) -> None:
        """Raise Conflict if the partition or a campaign is not at its offset, or not complete."""
        inspection.verify(self, lease, offset, campaigns)

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


def _pairs(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)


def _decode_fields(fields: dict[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}
