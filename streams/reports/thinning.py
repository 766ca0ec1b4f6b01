"""A bounded history of a growing campaign, for charts of ratings over time."""

from __future__ import annotations

from typing import Generic, TypeVar

Item = TypeVar("Item")


class ThinnedSeries(Generic[Item]):
    """At most `most` items, spread evenly over the positions at which they were added.

    When there are too many, every other item is dropped, and new items must be further apart.

    >>> series: ThinnedSeries[int] = ThinnedSeries(4)
    >>> [series.add(position, position) for position in range(1, 9)]
    [True, True, True, True, True, False, True, False]
    >>> series.items
    [1, 3, 5, 7]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.clear()

    def clear(self) -> None:
        """Remove all items."""
        self.items: list[Item] = []
        self.last = -1  # position of the last item
        self._step = 1

    def accepts(self, position: int) -> bool:
        """Return whether a position is far enough from the last item."""
        return not self.items or position >= self.last + self._step

    def add(self, position: int, item: Item) -> bool:
        """Add an item if its position is accepted. Return whether it was added."""
        if not self.accepts(position):
            return False
        self.items.append(item)
        self.last = position
        if len(self.items) > self._most:
            self.items = self.items[::2]
            self._step = max(1, 2 * position // self._most)
        return True
