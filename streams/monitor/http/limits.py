"""The rate limit of each sender: requests per second, with bursts of twice as many."""

from __future__ import annotations

from collections import OrderedDict

MOST_SENDERS = 10_000


class Quota:
    """A token bucket per sender.

    >>> quota = Quota(rate=1)
    >>> [quota.wait("me", now) for now in (0.0, 0.0, 0.0, 1.0)]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(self, *, rate: float) -> None:
        self._rate = rate
        self._room = 2.0 * rate
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens left, and when that was

    def wait(self, sender: str, now: float) -> float:
        """Use one token and return 0. If there is none, return the seconds until there is one."""
        left, since = self._buckets.pop(sender, (self._room, now))
        left = min(self._room, left + (now - since) * self._rate)
        enough = left >= 1.0
        self._buckets[sender] = (left - 1.0 if enough else left, now)
        if len(self._buckets) > MOST_SENDERS:
            self._buckets.popitem(last=False)
        return 0.0 if enough else (1.0 - left) / self._rate
