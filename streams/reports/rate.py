"""Judgments per second over a recent window, as the monitor and the terminal show it."""

from __future__ import annotations

from collections import deque


class WindowedRate:
    """The rate of a growing count over the last seconds. The caller gives the time.

    >>> rate = WindowedRate(60.0)
    >>> for second, judgments in ((0.0, 100), (10.0, 150)):
    ...     rate.add(second, judgments)
    >>> rate.at(10.0), rate.at(25.0), rate.at(100.0)
    (5.0, 2.0, 0.0)
    """

    def __init__(self, window: float) -> None:
        self._window = window
        self._counts: deque[tuple[float, int]] = deque()

    def add(self, now: float, count: int) -> None:
        """Record the count at a time. A lower count than before starts a new series."""
        if self._counts and count < self._counts[-1][1]:
            self._counts.clear()
        self._counts.append((now, count))
        # The last count before the window stays: the rate is measured from there.
        while len(self._counts) > 2 and self._counts[1][0] <= now - self._window:
            self._counts.popleft()

    def at(self, now: float) -> float:
        """Return the increase per second over the window that ends at a time."""
        if not self._counts:
            return 0.0
        start = self._counts[0]
        for recorded in self._counts:
            if recorded[0] > now - self._window:
                break
            start = recorded
        elapsed = min(now - start[0], self._window)
        return (self._counts[-1][1] - start[1]) / elapsed if elapsed > 0 else 0.0
