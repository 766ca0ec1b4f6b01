"""Remember the conversations of a log that were read already, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

_REMEMBERED = 200_000  # at least this many are known, and at most twice as many


class RecentConversations:
    """The last conversations of a log, by a hash of what identifies them. The oldest ones are forgotten first.

    >>> recent = RecentConversations()
    >>> recent.is_new("q1", 7), recent.is_new("q1", 8), recent.is_new("q1", 7)
    (True, True, False)
    """

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._new: set[int] = set()
        self._old: set[int] = set()

    def is_new(self, *parts: Hashable) -> bool:
        """Return whether a conversation was not read before, and remember it."""
        key = hash(parts)
        if key in self._new or key in self._old:
            return False
        if len(self._new) >= self._remembered:
            self._old, self._new = self._new, set()
        self._new.add(key)
        return True
