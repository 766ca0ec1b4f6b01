"""The limits of each sender: requests per second, slots, and how long an address with wrong tokens has to wait."""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import contextmanager
from math import exp2, log2
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SENDERS = 10_000
FREE_MISTAKES = 3  # wrong tokens without a wait
FIRST_WAIT = 0.25  # seconds; each further wrong token doubles it
LONGEST_WAIT = 8.0
FORGIVEN_SECONDS = 10.0  # after which one wrong token is forgotten
MOST_WAITING = 8  # wrong tokens of one sender that wait at the same time
MOST_WAITING_IN_ALL = 1000


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


class Mistakes:
    """The wrong tokens of each sender. Each one makes the next wait longer.

    >>> mistakes = Mistakes()
    >>> [mistakes.add("me", 0.0) for _ in range(6)]
    [0.0, 0.0, 0.0, 0.25, 0.5, 1.0]
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[str, tuple[float, float]] = OrderedDict()  # wrong tokens, and when that was
        self.waiting = Slots(most=MOST_WAITING_IN_ALL, most_per_sender=MOST_WAITING)  # answers that wait

    def add(self, sender: str, now: float) -> float:
        """Count a wrong token. Return the seconds that its answer has to wait."""
        count, since = self._counts.pop(sender, (0.0, now))
        count = max(0.0, count - (now - since) / FORGIVEN_SECONDS) + 1.0
        most = FREE_MISTAKES + 1.0 + log2(LONGEST_WAIT / FIRST_WAIT)
        self._counts[sender] = (min(count, most), now)
        if len(self._counts) > MOST_SENDERS:
            self._counts.popitem(last=False)
        if count <= FREE_MISTAKES:
            return 0.0
        return min(LONGEST_WAIT, FIRST_WAIT * exp2(count - FREE_MISTAKES - 1.0))


class Slots:
    """What may be held at the same time, by each sender and by all together.

    >>> slots = Slots(most=3, most_per_sender=2)
    >>> with slots.hold("me") as first, slots.hold("me") as second, slots.hold("me") as third:
    ...     first, second, third
    (None, None, 'sender')
    """

    def __init__(self, *, most: int, most_per_sender: int) -> None:
        self._most, self._most_per_sender = most, most_per_sender
        self._held: Counter[str] = Counter()
        self.total = 0

    @contextmanager
    def hold(self, sender: str) -> Iterator[Literal["sender", "all"] | None]:
        """Yield who holds too many, the sender or all together. If neither does, hold a slot meanwhile."""
        if self._held[sender] >= self._most_per_sender:
            yield "sender"
        elif self.total >= self._most:
            yield "all"
        else:
            self._held[sender] += 1
            self.total += 1
            try:
                yield None
            finally:
                self.total -= 1
                self._held[sender] -= 1
                if not self._held[sender]:
                    del self._held[sender]
