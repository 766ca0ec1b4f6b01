"""The campaigns of a partition, claimed by its new owner and summarized without their tables.

This function is a method of the Redis store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streams.core.campaign.state import LAYOUT, StoredCampaign, join_meta
from streams.stores.base import summarize
from streams.stores.completeness import checked, decode_sizes, find_missing_rows
from streams.stores.redis.inspection import read_list
from streams.stores.redis.outboxes import decode_outbox
from streams.stores.redis.units import CAMPAIGN_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from streams.stores.base import CampaignSummary, Lease
    from streams.stores.redis.store import RedisStore

PART = 100  # campaigns per call, so that Redis answers other clients in between; one in a cluster
TABLES = ("meta", *CAMPAIGN_TABLES)


def survey(store: RedisStore, lease: Lease, campaigns: Iterable[str]) -> Iterator[tuple[str, CampaignSummary | None]]:
    """Make the lease the writer of campaigns, and yield a summary of each."""
    listed = read_list(store, lease.partition)
    with store.client.translated_errors():
        size = 1 if store.client.is_cluster else PART
    names = list(campaigns)
    for first in range(0, len(names), size):
        part = names[first : first + size]
        answers = store.client.run(
            "survey",
            keys=[store.keys.campaign(name, table) for name in part for table in TABLES],
            args=[lease.epoch, lease.partition, LAYOUT, len(TABLES)],
        )
        for name, answer in zip(part, answers, strict=True):
            yield name, None if answer is None else _summarize(name, answer, listed.get(name))


def _summarize(name: str, answer: list[Any], listed: str | None) -> CampaignSummary | None:
    meta, status, offset, expected, sizes, outbox = answer
    stored = StoredCampaign(
        meta=join_meta(meta, status),
        tables={},
        scores={},
        seen=(),
        outbox=decode_outbox(outbox),
        offset=int(offset),
        problem=find_missing_rows(decode_sizes((expected or b"").decode()), decode_sizes(sizes.decode())),
    )
    return summarize(name, checked(stored, listed))
