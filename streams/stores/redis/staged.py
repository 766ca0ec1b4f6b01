"""A campaign that a worker rates again: staged step by step in the fresh keys, and then swapped in.

These functions are methods of the Redis store. The heads of the fresh keys count the steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from streams.core.campaign.state import LAYOUT, newer_layout_error
from streams.errors import ForeignCampaign, StoreCorrupt
from streams.stores.base import StagedCampaign
from streams.stores.redis.client import fenced_error
from streams.stores.redis.staging import PART, Staging
from streams.stores.redis.units import campaign_unit

if TYPE_CHECKING:
    from streams.core.campaign.state import CampaignChange
    from streams.stores.base import Lease
    from streams.stores.redis.keys import Keys
    from streams.stores.redis.store import RedisStore

POSITION = "position"  # field of a staged head: all records of the log before it are staged


def stage(store: RedisStore, lease: Lease, change: CampaignChange, *, position: int) -> None:
    """Write a change beside the live state of a campaign."""
    staging = Staging(store)
    if change.before < 0:
        _claim(store, store.keys, lease, change.campaign)
        staging.clear(change.campaign)
    unit = campaign_unit(staging.fresh.keys, change)
    unit = replace(unit, writes=[*unit.writes, ("HSET", unit.head, [POSITION, position])])
    parts = list(unit.parts(PART))
    head = staging.fresh.read_head(change.campaign) if len(parts) > 1 else {}
    if (head.get("epoch"), head.get("offset")) != (str(lease.epoch), str(change.after)):  # not the same change again
        for part in parts:
            staging.fresh.write(lease, [part])


def read_staged(store: RedisStore, lease: Lease, campaign: str) -> StagedCampaign | None:
    """Return what is staged of a campaign and make the lease its writer."""
    fresh = Staging(store).fresh
    _claim(store, store.keys, lease, campaign)
    try:
        if not _claim(store, fresh.keys, lease, campaign):
            return None
        with store.client.translated_errors():
            found: list[bytes | None] = store.client.redis.hmget(  # type: ignore[assignment]
                fresh.keys.campaign(campaign, "meta"), ["offset", POSITION]
            )
        step, position = found
        if step is None or position is None or not step.isdigit():
            return None  # a rebuild, or a step of many parts, was interrupted here
        state = fresh.read(campaign)
    except (StoreCorrupt, ForeignCampaign):
        return None
    if state is None:
        return None
    return StagedCampaign(state=state, step=int(step), position=int(position))


def swap_staged(store: RedisStore, lease: Lease, campaign: str, *, offset: int) -> None:
    """Swap what is staged in for the live state."""
    Staging(store).swap_campaign(lease, campaign, offset=offset)


def drop_staged(store: RedisStore, lease: Lease, campaign: str) -> None:
    """Remove what is staged of a campaign."""
    _claim(store, store.keys, lease, campaign)
    Staging(store).clear(campaign)


def remove(store: RedisStore, lease: Lease, campaign: str) -> None:
    """Remove a campaign of which the log has no record."""
    Staging(store).remove_campaign(lease, campaign)


def _claim(store: RedisStore, keys: Keys, lease: Lease, campaign: str) -> bool:
    """Make the lease the writer of a campaign's live or fresh keys. Return False if there are none."""
    head = keys.campaign(campaign, "meta")
    status, detail = store.client.run("claim", keys=[head], args=[lease.epoch, lease.partition, LAYOUT])
    if status == b"NEWER":
        raise newer_layout_error(f"campaign {campaign!r}", detail.decode())
    if status == b"FOREIGN":
        raise ForeignCampaign(campaign, detail.decode())
    if status == b"FENCED":
        raise fenced_error(lease, detail)
    return bool(status == b"OK")
