"""Losses that a store may suffer, made by hand: lost keys, and states that come back older."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

from streams.core.campaign.state import TABLES
from streams.stores.memory import MemoryStore
from streams.stores.redis.store import RedisStore
from streams.stores.redis.units import CAMPAIGN_TABLES

if TYPE_CHECKING:
    from streams.stores import Store

Restore = Callable[[], None]


def lose_table(store: Store, campaign: str, table: str) -> None:
    """Lose one key of a campaign, as an eviction does."""
    if isinstance(store, RedisStore):
        assert store.client.redis.delete(store.keys.campaign(campaign, table)) == 1
        return
    assert isinstance(store, MemoryStore)
    if table == "meta":
        del store._campaigns[campaign]
    elif table == "seen":
        store._campaigns[campaign].seen.clear()
    elif table == "leaderboard":
        store._campaigns[campaign].scores.clear()
    else:
        assert table in TABLES
        store._campaigns[campaign].tables[table].clear()


def lose_partition(store: Store, partition: str, *, listed: bool, head: bool) -> None:
    """Lose the list of a partition's campaigns, or its head, or both."""
    if isinstance(store, RedisStore):
        keys = [store.keys.partition(partition)] * head + [store.keys.partition(partition, "campaigns")] * listed
        for key in keys:
            assert store.client.redis.delete(key) == 1
        return
    assert isinstance(store, MemoryStore)
    kept = store._partitions[partition]
    if head:
        replaced = store._partitions[partition] = type(kept)()
        replaced.campaigns = kept.campaigns
    if listed:
        store._partitions[partition].campaigns.clear()


def keep_campaign(store: Store, campaign: str) -> Restore:
    """Copy a campaign. Return a function that puts the copy back, as a shard that comes back older does."""
    if isinstance(store, RedisStore):
        return _keep(store, [store.keys.campaign(campaign, table) for table in ("meta", *CAMPAIGN_TABLES)])
    assert isinstance(store, MemoryStore)
    kept = copy.deepcopy(store._campaigns[campaign])
    return lambda: store._campaigns.update({campaign: kept})


def keep_partition(store: Store, partition: str) -> Restore:
    """Copy a partition's own keys. Return a function that puts the copy back."""
    if isinstance(store, RedisStore):
        return _keep(store, [store.keys.partition(partition, part) for part in ("head", "campaigns", "outbox")])
    assert isinstance(store, MemoryStore)
    kept = copy.deepcopy(store._partitions[partition])
    return lambda: store._partitions.update({partition: kept})


def _keep(store: RedisStore, keys: list[str]) -> Restore:
    client = store.client.redis
    kept = {key: client.dump(key) for key in keys}

    def restore() -> None:
        for key, value in kept.items():
            client.delete(key)
            if value is not None:
                client.restore(key, 0, value)

    return restore
