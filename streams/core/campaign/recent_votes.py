"""The recent votes of a campaign: to find a judge who judges the same match again, or who changes a verdict.

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
    """What is kept of a judgment. All but `judge` is only needed to take it back. Names are indices of the tables.

    One without systems does not count (any more), or is kept only to find a repeated vote.
    """

    judge: int
    segment: int = -1
    systems: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    key: int = 0  # checksum of the judgment's id
    categories: tuple[int, ...] = ()
    ids: tuple[bytes, ...] = ()  # hashes of it and of the id that it replaces; empty: the vote is not found by id

    @property
    def id(self) -> bytes:
        """The hash of the judgment's id, or nothing."""
        return self.ids[0] if self.ids else b""


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


def id_key(judgment: str) -> bytes:
    """Return a short hash of a judgment's id."""
    return blake2b(judgment.encode(), digest_size=KEY_BYTES).digest()


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
        self._by_id: dict[bytes, int] = {}
        self._versions: dict[bytes, dict[int, int]] = {}  # by the id that they replace, and judge
        self._next = 0
        self._changed: set[int] = set()  # blocks
        for row in (stored or {}).values():
            for place in msgspec.msgpack.decode(row, type=list[_Place]):
                self._places[place.number % kept] = place
                self._next = max(self._next, place.number + 1)
                self._enter(place)

    def find(self, match: bytes) -> Vote | None:
        """Return the vote on a match, if it is kept."""
        number = self._numbers.get(match)
        return None if number is None else self._places[number % self.kept].vote

    def find_verdict(self, judgment: bytes) -> Vote | None:
        """Return the vote of a judgment, by the hash of its id, if it is kept."""
        number = self._by_id.get(judgment)
        return None if number is None else self._places[number % self.kept].vote

    def find_versions(self, judgment: bytes) -> list[Vote]:
        """Return the votes that replaced a judgment and count, at most one for each judge."""
        votes = (self._places[number % self.kept].vote for number in self._versions.get(judgment, {}).values())
        return [vote for vote in votes if vote is not None]

    def add(self, match: bytes, vote: Vote) -> None:
        """Keep a vote. It takes the place of an earlier one on the same match, if it has one."""
        if match and (number := self._numbers.get(match)) is not None:
            self._take_out(number)
        if (oldest := self._places.get(self._next % self.kept)) is not None:
            self._leave(oldest)
        place = _Place(self._next, match, vote)
        self._enter(place)
        self._write(place)
        self._next += 1

    def take_out(self, judgment: bytes) -> None:
        """Keep of a judgment only that it does not count."""
        self._take_out(self._by_id[judgment])

    def forget_judge(self, judge: int, *, key: int | None = None) -> None:
        """Remove the votes of a judge, or those with a key. What they hold is made from the pseudonym."""
        for place in list(self._places.values()):
            if (vote := place.vote) is not None and vote.judge == judge and key in (None, vote.key):
                self._leave(place)
                self._write(_Place(place.number))

    def drain_changes(self) -> dict[str, bytes]:
        """Return the rows that changed since the last call."""
        rows = {str(block): msgspec.msgpack.encode(self._block(block)) for block in sorted(self._changed)}
        self._changed.clear()
        return rows

    def discard_changes(self) -> None:
        """Forget which rows changed."""
        self._changed.clear()

    def _take_out(self, number: int) -> None:
        place = self._places[number % self.kept]
        assert place.vote is not None
        self._leave(place)
        judge = place.vote.judge
        key = place.vote.key if judge < 0 else 0  # of a judge without an index it says whose the vote is
        left = Vote(judge=judge, key=key, ids=place.vote.ids[:1]) if place.vote.ids else None
        taken = _Place(number, b"", left)
        self._enter(taken)
        self._write(taken)

    def _enter(self, place: _Place) -> None:
        """Make the vote of a place known by its match and its ids."""
        if (vote := place.vote) is None:
            return
        if place.match:
            self._numbers[place.match] = place.number
        for judgment in vote.ids[:1]:
            self._by_id[judgment] = place.number
        for replaced in vote.ids[1:]:
            self._versions.setdefault(replaced, {})[vote.judge] = place.number

    def _leave(self, place: _Place) -> None:
        if (vote := place.vote) is None:
            return
        if place.match:
            del self._numbers[place.match]
        for judgment in vote.ids[:1]:
            del self._by_id[judgment]
        for replaced in vote.ids[1:]:
            versions = self._versions[replaced]
            del versions[vote.judge]
            if not versions:
                del self._versions[replaced]

    def _write(self, place: _Place) -> None:
        where = place.number % self.kept
        self._places[where] = place
        self._changed.add(where // BLOCK)

    def _block(self, block: int) -> Sequence[_Place]:
        first = block * BLOCK
        return [self._places[where] for where in range(first, first + BLOCK) if where in self._places]
