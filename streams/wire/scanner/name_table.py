"""Names in arrays, each with a number: what the kernels fill and the scanner reads."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from streams.wire.scanner import kernels
from streams.wire.scanner.kernels.hash_tables import FULL
from streams.wire.scanner.kernels.text import PADDING
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Slots = NDArray[np.int32]


class NameTable:
    """The names of one log. `arrays` are the arguments of `number_name`, which knows their layout."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._slots: Slots = np.full(2**13, -1, np.int32)
        self._hashes: Ints = np.zeros(2**12, np.int64)
        self._ends: Ints = np.zeros(2**12 + 1, np.int64)
        self._words: Ints = np.zeros(2**14, np.int64)
        self._used: Ints = np.zeros(1, np.int64)

    @property
    def arrays(self) -> tuple[Slots, Ints, Ints, Ints, Ints]:
        """The slots, the hashes, the ends, the words and the number of names."""
        return self._slots, self._hashes, self._ends, self._words, self._used

    @property
    def nbytes(self) -> int:
        """The size of the names themselves."""
        return 8 * int(self._ends[self._used[0]])

    def number(self, names: Sequence[str]) -> Ints:
        """Return the numbers of names, none of which contains a zero byte."""
        texts, numbers = [name.encode() for name in names], np.empty(len(names), np.int64)
        data = np.frombuffer(b"".join(texts) + bytes(PADDING), np.uint8)
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
        while kernels.compiled("hash_tables").number_names(data, ends, numbers, SEED, *self.arrays) == FULL:
            self.grow()
        self.read_new()
        return numbers

    def grow(self) -> None:
        """Double the room."""
        count = int(self._used[0])
        self._slots = np.full(2 * len(self._slots), -1, np.int32)
        self._hashes, self._words = (np.append(array, np.zeros_like(array)) for array in (self._hashes, self._words))
        self._ends = np.append(self._ends, np.zeros_like(self._ends[1:]))
        kernels.compiled("hash_tables").rebuild_slots(self._slots, self._hashes, count)

    def read_new(self) -> None:
        """Add the names that a kernel has found to `names`."""
        ends = self._ends[len(self.names) : int(self._used[0]) + 1].tolist()
        letters = self._words[ends[0] : ends[-1]].astype("<i8").tobytes()
        self.names.extend(
            letters[8 * (begin - ends[0]) : 8 * (end - ends[0])].rstrip(b"\0").decode() for begin, end in pairwise(ends)
        )
