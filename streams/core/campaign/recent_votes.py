"""The recent votes of a campaign, by judge, segment and systems, to find a judge who judges the same match again.

They are kept in a ring of `repeat_window` places. A block of places is one row in the store.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BLOCK = 16  # places in one row
KEY_BYTES = 8


class Vote(Struct, frozen=True, kw_only=True, array_like=True):
    """What is kept of a judgment. All but `judge` is only needed to take it back. Names are indices of the tables."""

    judge: int
    segment: int = -1
    systems: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    key: int = 0  # checksum of the judgment's id
    categories: tuple[int, ...] = ()


class _Place(Struct, frozen=True, array_like=True):
    """The vote of one place, or nothing if it was removed. `number` is how many votes came before it."""

    number: int
    match: bytes = b""
    vote: Vote | None = None


def match_key(judge: str, segment: str, systems: Iterable[str]) -> bytes:
    """Return a short hash of a judge, a segment and a set of systems.

    >>> match_key("j", "s", ("a", "b")) == match_key("j", "s", ("b", "a")) != match_key("j", "t", ("a", "b"))
    True
    """
    return blake2b(encode((judge, segment, sorted(systems))), digest_size=KEY_BYTES).digest()


class RecentVotes:
    """The last `kept` votes. The oldest ones are forgotten first.

    >>> votes = RecentVotes(2)
    >>> for name in (b"one", b"two", b"three"):
    ...     votes.add(name, Vote(judge=0))
    >>> votes.find(b"one"), votes.find(b"three") is None
    (None, False)
    """

    def __init__(self, kept: int, stored: Mapping[str, bytes] | None = None) -> None:
        self.kept = kept
        self._places: dict[int, _Place] = {}  # by place in the ring
        self._numbers: dict[bytes, int] = {}  # of the votes, by match
        self._next = 0
        self._changed: set[int] = set()  # blocks
        for row in (stored or {}).values():
            for place in msgspec.msgpack.decode(row, type=list[_Place]):
                self._places[place.number % kept] = place
                self._next = max(self._next, place.number + 1)
                if place.vote is not None:
                    self._numbers[place.match] = place.number

    def find(self, match: bytes) -> Vote | None:
        """Return the vote on a match, if it is kept."""
        number = self._numbers.get(match)
        return None if number is None else self._places[number % self.kept].vote

    def add(self, match: bytes, vote: Vote) -> None:
        """Keep a vote. It takes the place of an earlier one on the same match."""
        self._remove(match)
        oldest = self._places.get(self._next % self.kept)
        if oldest is not None and oldest.vote is not None:
            del self._numbers[oldest.match]
        self._numbers[match] = self._next
        self._write(_Place(self._next, match, vote))
        self._next += 1

    def forget_judge(self, judge: int) -> None:
        """Remove the votes of a judge. What they hold is made from the pseudonym."""
        places = self._places.values()
        for match in [place.match for place in places if place.vote is not None and place.vote.judge == judge]:
            self._remove(match)

    def drain_changes(self) -> dict[str, bytes]:
        """Return the rows that changed since the last call."""
        rows = {str(block): msgspec.msgpack.encode(self._block(block)) for block in sorted(self._changed)}
        self._changed.clear()
        return rows

    def discard_changes(self) -> None:
        """Forget which rows changed."""
        self._changed.clear()

    def _remove(self, match: bytes) -> None:
        if (number := self._numbers.pop(match, None)) is not None:
            self._write(_Place(number))

    def _write(self, place: _Place) -> None:
        where = place.number % self.kept
        self._places[where] = place
        self._changed.add(where // BLOCK)

    def _block(self, block: int) -> Sequence[_Place]:
        first = block * BLOCK
        return [self._places[where] for where in range(first, first + BLOCK) if where in self._places]
