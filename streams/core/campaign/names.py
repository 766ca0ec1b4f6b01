"""Names of systems, judges and segments, and the indices that stand for them in arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


OTHERS = ""  # the name of the one row of all segments beyond the limit; no segment has an empty name


class NameIndex:
    """Names, each with an index, in order of appearance.

    >>> names = NameIndex()
    >>> names.add("a"), names.add("b"), names.index["b"]
    (0, 1, 1)
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most  # names that fit; None: any number
        self.index: dict[str, int] = {}
        self.names: list[str] = []
        self._other: Sequence[str] = ()
        self._found: Ints = np.empty(0, np.int64)  # for each place in the other list

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str) -> int:
        """Return the index of a name. A new name gets the next index."""
        found = self.index.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
        return found

    def has_room_for(self, names: Collection[str]) -> bool:
        """Return whether all of these names are known or fit.

        >>> names = NameIndex(most=2)
        >>> names.add("a"), names.has_room_for(["b", "a", "b"]), names.has_room_for(["b", "c"])
        (0, True, False)
        """
        if self.most is None or len(self.names) + len(names) <= self.most:
            return True
        new = set(names).difference(self.index)
        return not new or len(self.names) + len(new) <= self.most

    def add_all(self, names: Sequence[str]) -> list[int]:
        """Return the index of each name. New names get the next indices."""
        try:
            return list(map(self.index.__getitem__, names))
        except KeyError:
            return [self.add(name) for name in names]

    def rename(self, old: str, new: str) -> int | None:
        """Move a name's index to a new name. Return the index, or None if there is no such name or nothing changes.

        >>> names = NameIndex()
        >>> names.add("a"), names.rename("a", "x"), names.add("a"), names.names
        (0, 0, 1, ['x', 'a'])
        """
        if old == new or old not in self.index or new in self.index:
            return None
        found = self.index[new] = self.index.pop(old)
        self.names[found] = new
        self._other, self._found = (), np.empty(0, np.int64)  # what was found may be the old name
        return found

    def find_numbered(self, numbers: Ints, names: Sequence[str]) -> Ints:
        """Return the indices of names that are given as places in another list, or -1 for unknown names.

        The other list may only grow between two calls.

        >>> known = NameIndex()
        >>> known.add("b"), known.find_numbered(np.array([1, 0, 1]), ["a", "b"]).tolist()
        (0, [0, -1, 0])
        """
        if names is not self._other:
            self._other, self._found = names, np.empty(0, np.int64)
        self._found = grow_array(self._found, len(names), fill=-1)
        indices = self._found[numbers]
        if indices.min() < 0:
            for number in set(numbers[indices < 0].tolist()):
                self._found[number] = self.index.get(names[number], -1)
            indices = self._found[numbers]
        return indices

    def has_room_for_numbered(self, numbers: Ints, names: Sequence[str]) -> bool:
        """Return whether all names that are given as places in another list are known or fit."""
        if self.most is None or len(self.names) + len(numbers) <= self.most:
            return True
        return self.has_room_for([names[number] for number in set(numbers.tolist())])

    def add_numbered(self, numbers: Ints, names: Sequence[str]) -> Ints:
        """Return the indices of names that are given as places in another list. New names get the next indices.

        >>> known = NameIndex()
        >>> known.add_numbered(np.array([1, 0, 1]), ["a", "b"]).tolist(), known.names
        ([0, 1, 0], ['b', 'a'])
        """
        indices = self.find_numbered(numbers, names)
        if indices.min() < 0:
            for number in dict.fromkeys(numbers[indices < 0].tolist()):
                self._found[number] = self.add(names[number])
            indices = self._found[numbers]
        return indices


class SegmentIndex(NameIndex):
    """Names of segments. When there are `most`, all other segments share one index, under the name `OTHERS`.

    >>> names = SegmentIndex(most=1)
    >>> names.add("a"), names.add("b"), names.add("c"), names.names, names.kept
    (0, 1, 1, ['a', ''], 1)
    """

    def add(self, name: str) -> int:
        """Return the index of a segment, which is that of `OTHERS` if no more fit."""
        found = self.index.get(name)
        return (
            self.insert(OTHERS if self.most is not None and self.kept >= self.most else name)
            if found is None
            else found
        )

    def insert(self, name: str) -> int:
        """Return the index of a segment that is listed or stored. The limit does not matter."""
        return super().add(name)

    @property
    def shared(self) -> int | None:
        """The index that segments beyond the limit share, or None if there are none."""
        return self.index.get(OTHERS)

    @property
    def kept(self) -> int:
        """The number of segments with an index of their own."""
        return len(self.names) - (OTHERS in self.index)


def grow_array(array: Ints, size: int, *, fill: int = 0) -> Ints:
    """Return an array with room for `size` values. It at least doubles when it grows."""
    if size <= len(array):
        return array
    return np.append(array, np.full(max(size, 2 * len(array)) - len(array), fill, np.int64))
