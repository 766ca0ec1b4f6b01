"""Campaigns that rest: they are in the store and not in memory, until their next record comes.

Only what is needed meanwhile is kept of each: where the store has it, and the counts that make the accounting whole.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from streams.core.campaign.state import Counts


class RestingCampaign(NamedTuple):
    """A campaign that is not in memory. The store has it at this offset."""

    offset: int
    counts: Counts
    suspends: bool  # whether it suspends flagged judges by itself
    awaits_rerun: bool = False  # because of changed verdicts


class LastUses:
    """When each campaign in memory was last used. The ones that are idle, or are beyond the bound, leave first.

    The caller has the clock: what was used since the last call of `find_idle` counts as used at the next one.

    >>> uses = LastUses(most=2, idle_seconds=60.0)
    >>> for name in ("a", "b", "c", "a"):
    ...     uses.add(name)
    >>> uses.find_idle(1.0, among={"a", "b", "c"})
    ['b']
    >>> uses.find_idle(61.0, among={"a", "c"})
    ['c', 'a']
    """

    def __init__(self, *, most: int, idle_seconds: float) -> None:
        self._most = most
        self._longest = idle_seconds
        self._times: dict[str, float | None] = {}  # the least recently used first; None: since the last call

    def add(self, name: str) -> None:
        """Remember that a campaign is used now."""
        self._times.pop(name, None)
        self._times[name] = None

    def end(self, name: str) -> None:
        """Remember that a campaign will hardly be used again."""
        self._times.pop(name, None)
        self._times = {name: -inf, **self._times}

    def find_idle(self, now: float, *, among: Collection[str]) -> list[str]:
        """Return the campaigns that are to leave memory, the least recently used first, and forget their uses.

        Only these and the ones that were used since the last call are looked at, because each batch asks.
        """
        for name, at in reversed(self._times.items()):
            if at is not None:
                break
            self._times[name] = now
        beyond, found = len(among) - self._most, []
        for name, at in self._times.items():
            if name not in among:  # it has left in another way
                found.append(name)
            elif beyond > 0 or (at is not None and now - at >= self._longest):
                found.append(name)
                beyond -= 1
            else:
                break
        for name in found:
            del self._times[name]
        return [name for name in found if name in among]
