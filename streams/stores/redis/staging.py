"""The fresh keys of campaigns that are rated again: written beside the live ones, and swapped in with one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.stores.redis.units import CAMPAIGN_TABLES, STAGED, campaign_unit, partition_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.state import CampaignChange
    from streams.stores.base import Lease
    from streams.stores.commit import Commit
    from streams.stores.redis.keys import Keys
    from streams.stores.redis.store import RedisStore

PART = 4_000  # arguments per call, so that Redis answers other clients in between


class Staging:
    """Fresh keys in the slots of the live ones. The next rebuild removes what a crash leaves of them."""

    def __init__(self, store: RedisStore) -> None:
        self._live = store
        self.fresh = store.beside(STAGED)

    def put_campaign(self, lease: Lease, change: CampaignChange) -> None:
        """Write a whole campaign to fresh keys."""
        self.clear(change.campaign)
        for unit in campaign_unit(self.fresh.keys, change).parts(PART):
            self.fresh.write(lease, [unit])

    def swap_campaign(self, lease: Lease, campaign: str, *, offset: int | None = None) -> None:
        """Replace the campaign by the fresh keys. It is listed first, and then with its offset.

        Its head gets the `offset`, if there is one.
        """
        self._live.change_list(lease, campaign, "new")
        self._swap(lease, self._campaign_keys(campaign), "swap", *(() if offset is None else (offset,)))
        self._live.change_list(lease, campaign, int(self._live.read_head(campaign)["offset"]))

    def remove_campaign(self, lease: Lease, campaign: str) -> None:
        """Remove a campaign of which the log has no record."""
        self._swap(lease, self._campaign_keys(campaign), "remove")
        self._live.change_list(lease, campaign, "none")

    def put_partition(self, lease: Lease, commit: Commit) -> None:
        """Write a partition's head and outbox to fresh keys."""
        keys = self.fresh.keys
        self._unlink([keys.partition(lease.partition), keys.partition(lease.partition, "outbox")])
        listed = self._live.keys.partition(lease.partition, "campaigns")
        self.fresh.write(lease, [partition_unit(keys, lease.partition, commit, listed=listed)])

    def swap_partition(self, lease: Lease) -> None:
        """Replace the partition's head and outbox by the fresh keys. The list of its campaigns stays."""
        names = [(keys.partition(lease.partition), keys.partition(lease.partition, "outbox")) for keys in self._both()]
        self._swap(lease, list(zip(*names, strict=True)), "swap")

    def clear(self, campaign: str) -> None:
        """Remove the fresh keys that an interrupted rebuild left of a campaign."""
        self._unlink([fresh for _, fresh in self._campaign_keys(campaign)])

    def _swap(self, lease: Lease, pairs: Sequence[tuple[str, ...]], *how: str | int) -> None:
        self._live.client.write("swap", lease, keys=[key for pair in pairs for key in pair], args=how)

    def _unlink(self, keys: list[str]) -> None:
        with self._live.client.translated_errors():
            self._live.client.redis.unlink(*keys)

    def _campaign_keys(self, campaign: str) -> list[tuple[str, ...]]:
        """Return pairs of live and fresh keys, the heads first."""
        tables = ("meta", *CAMPAIGN_TABLES)
        return [tuple(keys.campaign(campaign, table) for keys in self._both()) for table in tables]

    def _both(self) -> tuple[Keys, Keys]:
        return self._live.keys, self.fresh.keys
