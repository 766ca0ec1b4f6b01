"""The ids that a campaign has seen: exactly the last so many, whatever the batches."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class SeenIds:
    """Remembers the last ids.

    >>> seen = SeenIds(2)
    >>> for name in ("a", "b", "c"):
    ...     seen.add(name)
    >>> "a" in seen, "c" in seen, seen.take()
    (False, True, ('a', 'b', 'c'))
    """

    def __init__(self, kept: int, known: Iterable[str] = ()) -> None:
        self.kept = kept
        self._order: deque[str] = deque(known, maxlen=kept)
        self._ids = set(self._order)
        self._new: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._ids

    def add(self, name: str) -> None:
        """Remember one more, and forget the oldest where there are too many."""
        if len(self._order) == self.kept:
            self._ids.discard(self._order[0])
        self._order.append(name)
        self._ids.add(name)
        self._new.append(name)

    def take(self) -> tuple[str, ...]:
        """Give what was added since the last call."""
        new, self._new = tuple(self._new), []
        return new
