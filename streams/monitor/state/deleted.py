"""Campaigns that were deleted: the store still lists them, and their ledger has to be removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streams.monitor.backends.base import Backend

LOOK_SECONDS = 30.0  # after which it is looked whether a campaign was created again


class DeletedCampaigns:
    """The deleted campaigns that the monitor knows of, and when it last looked."""

    def __init__(self) -> None:
        self._looked_at: dict[str, float] = {}
        self._with_ledger: set[str] = set()

    def add(self, name: str, *, now: float) -> None:
        """Remember a campaign. Its ledger is to be removed when it is seen for the first time."""
        if name not in self._looked_at:
            self._with_ledger.add(name)
        self._looked_at[name] = now

    def __contains__(self, name: str) -> bool:
        return name in self._looked_at

    def discard(self, name: str) -> None:
        """Forget a campaign that was created again."""
        self._looked_at.pop(name, None)
        self._with_ledger.discard(name)

    def without(self, names: Iterable[str], *, now: float) -> set[str]:
        """Return the names of those that may exist: not deleted, or not looked at for a while.

        >>> deleted = DeletedCampaigns()
        >>> deleted.add("a", now=100.0)
        >>> deleted.without(["a", "b"], now=101.0), deleted.without(["a"], now=131.0)
        ({'b'}, {'a'})
        """
        return {name for name in names if now - self._looked_at.get(name, -LOOK_SECONDS) >= LOOK_SECONDS}

    async def remove_ledgers(self, backend: Backend) -> None:
        """Remove the history and the leases of deleted campaigns."""
        for name in sorted(self._with_ledger):
            await backend.run(backend.ledger.remove, name)
            self._with_ledger.discard(name)
