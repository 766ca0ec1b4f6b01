"""Names of systems, judges and segments, and the indices that stand for them in arrays."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


FEW = 64  # indices that are sorted in less time than counted
WORTH_KNOWING = 8  # names of a log per name of a batch: more take more memory than looking up each name is worth
OTHERS = ""  # the name of the one row of all segments beyond the limit; no segment has an empty name


class NumberedNames:
    """Names of a batch that are given as numbers: their places in another list.

    >>> names = NumberedNames(np.array([2, 0, 2]), ["a", "b", "c"])
    >>> names.distinct, names.spread([7, 8]).tolist()
    (['c', 'a'], [7, 8, 7])
    """

    def __init__(self, numbers: Ints, names: Sequence[str], renamed: Mapping[str, str] | None = None) -> None:
        self.numbers = numbers
        self.source = names
        self._renamed = renamed

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self.distinct)

    def name_of(self, number: int) -> str:
        """Return the name that a number stands for."""
        name = self.source[number]
        return name if self._renamed is None else self._renamed[name]

    @cached_property
    def _places(self) -> Ints:
        return _in_order_of_appearance(self.numbers, len(self.source))

    @cached_property
    def distinct(self) -> list[str]:
        """Each name once, in order of appearance."""
        return [self.name_of(place) for place in self._places.tolist()]

    def spread(self, values: Sequence[int]) -> Ints:
        """Return the value of each name of the batch, given those of the distinct names."""
        found: Ints = np.empty(len(self.source), np.int64)
        found[self._places] = values
        spread: Ints = found[self.numbers]
        return spread


class _KnownNumbers:
    """The indices of the names in one list, as far as they were asked for. It saves a look-up for each name."""

    def __init__(self, source: Sequence[str]) -> None:
        self.source = source
        self._index: Ints = np.full(len(source), -1, np.int64)

    def find(self, names: NumberedNames, find: Callable[[str], int], known: Sequence[str]) -> Ints:
        """Return the index of each name. Those that are not known yet are asked for, in order of appearance."""
        self._index = grow_array(self._index, len(self.source), fill=-1)
        found: Ints = self._index[names.numbers]
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            index = self._index.copy()
            for number in _in_order_of_appearance(names.numbers[unknown], len(self.source)).tolist():
                name = names.name_of(number)
                place = index[number] = find(name)
                if place >= 0 and known[place] == name:  # segments beyond the limit share one for now
                    self._index[number] = place
            found[unknown] = index[names.numbers[unknown]]
        return found


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
        self._known: _KnownNumbers | None = None

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str) -> int:
        """Return the index of a name. A new name gets the next index."""
        found = self.index.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
        return found

    def has_room_for(self, names: Collection[str] | NumberedNames) -> bool:
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
        self._known = None
        return found

    def find_numbered(self, names: NumberedNames) -> Ints:
        """Return the index of each name, or -1 for unknown names.

        >>> known = NameIndex()
        >>> known.add("b"), known.find_numbered(NumberedNames(np.array([1, 0, 1]), ["a", "b"])).tolist()
        (0, [0, -1, 0])
        """
        return self._look_up(names, lambda name: self.index.get(name, -1))

    def add_numbered(self, names: NumberedNames) -> Ints:
        """Return the index of each name. New names get the next indices.

        >>> known = NameIndex()
        >>> known.add_numbered(NumberedNames(np.array([1, 0, 1]), ["a", "b"])).tolist(), known.names
        ([0, 1, 0], ['b', 'a'])
        """
        return self._look_up(names, self.add)

    def _look_up(self, names: NumberedNames, find: Callable[[str], int]) -> Ints:
        if len(names.source) > WORTH_KNOWING * len(names):
            self._known = None
            return names.spread([find(name) for name in names.distinct])
        if self._known is None or self._known.source is not names.source:
            self._known = _KnownNumbers(names.source)
        return self._known.find(names, find, self.names)


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


def _in_order_of_appearance(numbers: Ints, size: int) -> Ints:
    """Return each number below `size` that occurs, in the order in which they first occur."""
    first = np.full(size, len(numbers), np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # the last of several values stays
    found = np.flatnonzero(first < len(numbers))
    return found[np.argsort(first[found])]


def distinct_indices(indices: Ints) -> list[int]:
    """Return each index once, in order. Counting many of them is faster than sorting."""
    if len(indices) < FEW:
        return sorted(set(indices.tolist()))
    distinct: list[int] = np.flatnonzero(np.bincount(indices)).tolist()
    return distinct
