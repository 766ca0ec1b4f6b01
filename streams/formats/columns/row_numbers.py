"""The numbers of the rows of each campaign: they ascend, because ids are made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


class RowNumbers:
    """The last number of each campaign, which is given by the cells of some columns.

    >>> numbers = RowNumbers(("campaign",))
    >>> place = numbers.place({"campaign": "c"})
    >>> numbers.advance(np.array([place]), np.array([7]))
    >>> numbers.last(place), numbers.find_bad(np.array([0, 0]), np.array([8, 8]), has_id=np.zeros(2, np.bool_)).tolist()
    (7, [False, True])
    """

    def __init__(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._places: dict[tuple[object, ...], int] = {}
        self._last: Ints = np.zeros(16, np.int64)

    def place(self, row: Mapping[str, object]) -> int:
        """Return the place of the campaign of a row."""
        place = self._places.setdefault(tuple(row[name] for name in self._columns), len(self._places))
        if place == len(self._last):
            self._last = np.append(self._last, np.zeros_like(self._last))
        return place

    def last(self, place: int) -> int:
        """Return the last number of a campaign."""
        return int(self._last[place])

    def set_last(self, place: int, number: int) -> None:
        """Remember the number of a row that was read."""
        self._last[place] = number

    def find_bad(self, places: Ints, numbers: Ints, *, has_id: Bools) -> Bools:
        """Return which rows do not ascend. A row with an id may have any number."""
        order = np.argsort(places, kind="stable")
        ordered, own = places[order], numbers[order]
        before = self._last[ordered]
        before[1:] = np.where(ordered[1:] == ordered[:-1], own[:-1], before[1:])
        bad = np.zeros(len(places), np.bool_)
        bad[order] = own <= before
        return bad & ~has_id

    def advance(self, places: Ints, numbers: Ints) -> None:
        """Remember the numbers of rows that were read."""
        self._last[places] = numbers  # the last of several stays
