"""Duplicate detection for scanned judgments, by the hashes of their ids."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from streams.wire.scanner import kernels
from streams.wire.scanner.kernels.text import PADDING
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from streams.wire.id_text import IdText
    from streams.wire.scanner.columns import JudgmentColumns

    Ints = NDArray[np.int64]

_MIN_KEPT = 2**16  # more than a block has judgments


class ScannedIds:
    """The ids of scanned judgments, kept as one text per batch until somebody needs each of them.

    `known` are the ids before the first scanned judgment. At least the last `kept` ids are remembered. Two ids may have
    the same hash, so a new id may be taken for a known one, but never the other way round.
    """

    def __init__(self, kept: int, known: Iterable[str] = ()) -> None:
        self._kept = kept
        self._hashes = _RecentHashes(kept)
        self._unhashed: deque[str] = deque(known, maxlen=kept)
        self._unread: deque[IdText] = deque()
        self._unread_ids = 0

    def add_if_new(self, columns: JudgmentColumns) -> bool:
        """Add the ids of these judgments if all are surely new and distinct. Return whether they were added."""
        self._hashes.insert_texts(list(self._unhashed))
        self._unhashed.clear()
        if not self._hashes.insert_new(columns.id_hashes):
            return False
        self._unread.append(columns.id_text)
        self._unread_ids += len(columns)
        while self._unread_ids - self._unread[0].count >= self._kept:
            self._unread_ids -= self._unread.popleft().count
        return True

    def add_texts(self, ids: Iterable[str]) -> None:
        """Add ids of judgments that were not scanned. They may be known."""
        self._unhashed.extend(ids)

    def drain_texts(self) -> Iterator[Sequence[str]]:
        """Yield the ids of scanned judgments that were added since the last call, at least the last `kept` ones."""
        while self._unread:
            yield self._unread.popleft().ids()
        self._unread_ids = 0


class _RecentHashes:
    """Two hash tables: the newer one is filled, then it becomes the older one."""

    def __init__(self, kept: int) -> None:
        self._kept = max(kept, _MIN_KEPT)
        size = 1 << (2 * self._kept).bit_length()
        self._newer, self._older = np.zeros((2, size), np.int64)
        self._count = 0

    def insert_new(self, hashes: Ints) -> bool:
        """Insert hashes. Return False, with none inserted, if one is known or they are too many."""
        if len(hashes) > self._kept:
            return False
        self._make_room(len(hashes))
        known_at: int = kernels.compiled("hash_tables").insert_new(hashes, self._newer, self._older)
        if known_at < len(hashes):
            self._count -= len(hashes)
        return known_at == len(hashes)

    def insert_texts(self, texts: Sequence[str]) -> None:
        """Insert the hashes of texts."""
        for start in range(0, len(texts), _MIN_KEPT):
            part = [text.encode() for text in texts[start : start + _MIN_KEPT]]
            hashes = np.empty(len(part), np.int64)
            data = np.frombuffer(b"".join(part) + bytes(PADDING), np.uint8)
            kernels.compiled("hash_tables").hash_texts(data, np.cumsum([len(text) for text in part]), hashes, SEED)
            self._make_room(len(part))
            kernels.compiled("hash_tables").insert_all(hashes, self._newer)

    def _make_room(self, count: int) -> None:
        if self._count >= self._kept:
            self._newer, self._older, self._count = self._older, self._newer, 0
            self._newer[:] = 0
        self._count += count
