"""The ids that a campaign has seen: exactly the last so many, whatever the batches."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from streams.wire.scanner import kernels
from streams.wire.scanner.lines import PADDING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from streams.wire.scanner.blocks import Scanned

    Ints = NDArray[np.int64]

_FEWEST = 2**16  # hashes in a table; no block of lines has more


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
        self._hashes: RecentHashes | None = None
        self._unhashed: list[str] = []
        # The latest blocks, whose ids are read when somebody asks for one, and how many of them are new.
        self._blocks: deque[Scanned] = deque()
        self._new_blocks = 0

    def __contains__(self, name: str) -> bool:
        self._read_blocks()
        return name in self._ids

    def add(self, name: str) -> None:
        """Remember one more, and forget the oldest where there are too many."""
        self._read_blocks()
        if len(self._order) == self.kept:
            self._ids.discard(self._order[0])
        self._order.append(name)
        self._ids.add(name)
        self._new.append(name)
        if self._hashes is not None:
            self._unhashed.append(name)

    def add_all(self, names: Sequence[str]) -> None:
        """Remember names that are new and distinct."""
        self._read_blocks()
        self._remember(names)
        self._new += names
        if self._hashes is not None:
            self._unhashed += names

    def add_block(self, block: Scanned) -> bool:
        """Remember the ids of a block, if none is known and each is another one for sure; say whether."""
        if self._hashes is None:
            self._hashes, self._unhashed = RecentHashes(self.kept), list(self._order)
        self._hashes.enter_texts(self._unhashed)
        self._unhashed = []
        if not self._hashes.enter_new(block.hashes):
            return False
        self._blocks.append(block)
        self._new_blocks += 1
        if sum(map(len, self._blocks)) - len(self._blocks[0]) >= self.kept and len(self._blocks) > self._new_blocks:
            self._blocks.popleft()
        return True

    def has_any(self, names: Iterable[str]) -> bool:
        """Say whether one of these is remembered."""
        self._read_blocks()
        return not self._ids.isdisjoint(names)

    def take(self) -> tuple[str, ...]:
        """Give what was added since the last call."""
        self._read_blocks()
        new = tuple(self._new)
        self.discard_new()
        return new

    def discard_new(self) -> None:
        """Do as if all had been taken."""
        self._new, self._new_blocks = [], 0

    def _read_blocks(self) -> None:
        while self._blocks:
            is_new = len(self._blocks) <= self._new_blocks
            ids = self._blocks.popleft().ids()
            self._remember(ids)
            if is_new:
                self._new += ids
        self._new_blocks = 0

    def _remember(self, names: Sequence[str]) -> None:
        excess = len(self._order) + len(names) - self.kept
        if excess > 0:
            self._ids.difference_update(islice(self._order, excess))
        self._order.extend(names)
        self._ids.update(names[-self.kept :])


class RecentHashes:
    """Hashes of the last ids, and of some before them: it may take an id for known that is new, never the other way."""

    def __init__(self, kept: int) -> None:
        self._kept = max(kept, _FEWEST)
        size = 1 << (2 * self._kept).bit_length()
        self._newer, self._older = np.zeros((2, size), np.int64)
        self._count = 0

    def enter_new(self, hashes: Ints) -> bool:
        """Enter hashes; False, and only some of them entered, if one may be known."""
        self._make_room(len(hashes))
        entered: int = kernels.compiled("hashes").enter_new(hashes, self._newer, self._older)
        return entered == len(hashes)

    def enter_texts(self, texts: Sequence[str]) -> None:
        """Enter the hashes of texts, known or not."""
        for start in range(0, len(texts), _FEWEST):
            part = [text.encode() for text in texts[start : start + _FEWEST]]
            hashes = np.empty(len(part), np.int64)
            data = np.frombuffer(b"".join(part) + bytes(PADDING), np.uint8)
            kernels.compiled("hashes").hash_texts(data, np.cumsum([len(text) for text in part]), hashes)
            self._make_room(len(part))
            kernels.compiled("hashes").enter_all(hashes, self._newer)

    def _make_room(self, count: int) -> None:
        """Begin a new table when the newer one has the last ids; what is before them is forgotten then."""
        if self._count >= self._kept:
            self._newer, self._older, self._count = self._older, self._newer, 0
            self._newer[:] = 0
        self._count += count
