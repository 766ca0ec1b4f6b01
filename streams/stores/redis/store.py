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

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from streams.core.campaign.state import TABLES, StoredCampaign, decode_meta
from streams.errors import ForeignCampaign
from streams.stores.base import Lease, partition_state
from streams.stores.redis.client import Client, fenced_error
from streams.stores.redis.gaps import RedisGaps
from streams.stores.redis.keys import Keys
from streams.stores.redis.late import RedisLate
from streams.stores.redis.units import campaign_unit, decode_outbox, partition_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from streams.core.campaign.state import CampaignMeta
    from streams.stores.commit import Commit, PartitionState
    from streams.stores.redis.units import Unit
    from streams.wire.outputs import Output


class RedisStore(RedisGaps, RedisLate):
    """Stores the state in Redis, or in a Redis Cluster if the URL names a node of one.

    No call is retried here. The caller may repeat `persist` and `load`, which change nothing the second time.
    """

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

    def open(self, partition: str) -> tuple[Lease, PartitionState]:
        """Take a partition over with a new epoch."""
        head = self.keys.partition(partition)
        with self.client.translated_errors():
            pipeline = self.client.redis.pipeline(transaction=True)
            pipeline.hincrby(head, "epoch", 1)
            pipeline.hgetall(head)
            pipeline.smembers(self.keys.partition(partition, "campaigns"))
            pipeline.get(self.keys.partition(partition, "outbox"))
            epoch, fields, campaigns, outbox = pipeline.execute()
        lease, names = Lease(partition, epoch), sorted(name.decode() for name in campaigns)
        if self.client.is_cluster:
            names = [name for name in names if self._reserve(lease, name)]
        return lease, partition_state(_decode_fields(fields), campaigns=tuple(names), outbox=decode_outbox(outbox))

    def _reserve(self, lease: Lease, campaign: str) -> bool:
        """Claim a listed campaign that is not written yet. Remove it from the list if it has another partition."""
        head = self.keys.campaign(campaign, "meta")
        status, _ = self.client.run("reserve", keys=[head], args=[lease.epoch, lease.partition])
        if status == b"FOREIGN":
            with self.client.translated_errors():
                self.client.redis.srem(self.keys.partition(lease.partition, "campaigns"), campaign)
        return bool(status == b"OK")

    def load(self, lease: Lease, campaign: str) -> StoredCampaign | None:
        """Return a campaign's state and make the lease its writer."""
        head = self.keys.campaign(campaign, "meta")
        status, detail = self.client.run("claim", keys=[head], args=[lease.epoch, lease.partition])
        if status == b"NONE":
            return None
        if status == b"FOREIGN":
            raise ForeignCampaign(campaign, detail.decode())
        if status == b"FENCED":
            raise fenced_error(lease, detail)
        return self.read(campaign)

    def persist(self, lease: Lease, commit: Commit) -> None:
        """Write a batch in one call, or in a cluster in one call per slot."""
        campaigns = [campaign_unit(self.keys, change) for change in commit.campaigns]
        partition = partition_unit(self.keys, lease.partition, commit)
        with self.client.translated_errors():
            divided = self.client.is_cluster
        if not divided:
            self.write(lease, [*campaigns, partition])
            return
        self.client.write(
            "announce",
            lease,
            keys=[partition.head, self.keys.partition(lease.partition, "campaigns")],
            args=[commit.before, commit.after, *(change.campaign for change in commit.campaigns)],
        )
        for unit in (*campaigns, partition):
            self.write(lease, [unit])

    def write(self, lease: Lease, units: Sequence[Unit]) -> None:
        """Write units of one slot, all or none."""
        self.client.write(
            "persist",
            lease,
            keys=list(dict.fromkeys(key for unit in units for key in unit.touched())),
            args=[item for unit in units for item in unit.arguments()],
        )

    def read(self, campaign: str, *, with_seen: bool = True) -> StoredCampaign | None:
        """Return a campaign's state as of one moment."""
        names = ("meta", "outbox", "seen", "leaderboard", *TABLES)
        found = self.client.run(
            "contents",
            keys=[self.keys.campaign(campaign, name) for name in names],
            args=(0, -1) if with_seen else (1, 0),
        )
        meta, outbox, ids, scores, *tables = found
        if not meta:
            return None
        return StoredCampaign(
            meta=meta,
            tables={
                table: {name.decode(): value for name, value in _pairs(rows)}
                for table, rows in zip(TABLES, tables, strict=True)
            },
            scores={system.decode(): float(score) for system, score in _pairs(scores)},
            seen=tuple(judgment_id.decode() for judgment_id in ids),
            outbox=decode_outbox(outbox),
        )

    def read_meta(self, campaign: str) -> CampaignMeta | None:
        """Return a campaign's state except its tables."""
        with self.client.translated_errors():
            meta: bytes | None = self.client.redis.hget(self.keys.campaign(campaign, "meta"), "campaign")  # type: ignore[assignment]
        return None if meta is None else decode_meta(campaign, meta)

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
        with self.client.translated_errors():
            pipeline = self.client.redis.pipeline(transaction=False)
            for partition in partitions:
                pipeline.smembers(self.keys.partition(partition, "campaigns"))
            return sorted(name.decode() for names in pipeline.execute() for name in names)

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


def _pairs(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)


def _decode_fields(fields: dict[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}
