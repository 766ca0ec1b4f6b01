"""The ids that a campaign has seen: exactly the last so many, whatever the batches."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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

    def add_all(self, names: Sequence[str]) -> None:
        """Remember names that are new and distinct."""
        excess = len(self._order) + len(names) - self.kept
        if excess > 0:
            self._ids.difference_update(islice(self._order, excess))
        self._order.extend(names)
        self._ids.update(names[-self.kept :])
        self._new += names

    def has_any(self, names: Iterable[str]) -> bool:
        """Say whether one of these is remembered."""
        return not self._ids.isdisjoint(names)

    def take(self) -> tuple[str, ...]:
        """Give what was added since the last call."""
        new, self._new = tuple(self._new), []
        return new
