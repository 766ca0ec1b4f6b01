"""The group counts of a campaign: the outcomes of each pair that met, split by judgment and by judge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from streams.core import kernels
from streams.core.campaign.packing import WIDTHS, cut_rows
from streams.core.ranking.grouped_counts import GROUPS, LOSS, TIE, WIN, GroupedCounts, groups_of
from streams.errors import StoreOutdated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from streams.core.campaign.recent_votes import Vote
    from streams.core.models import JudgmentBatch

    Ints = NDArray[np.int64]
    Cells = NDArray[np.int32]

FEWEST_GROUPS = 8
MAX_GROUP_CELLS = 4_000_000
CELLS = 6  # of a pair in one group: wins, ties and losses, by judgment and by judge


def category_cells(max_cells: int) -> int:
    """Return how many cells one category of judgments has, of a campaign whose own counts have `max_cells`.

    >>> category_cells(MAX_GROUP_CELLS)
    400000
    """
    return max_cells // 10


def number_of_groups(pairs: int, max_cells: int) -> int:
    """Return into how many groups the counts of so many pairs are split. The cells may pass the bound with 8 groups.

    >>> number_of_groups(190, 4_000_000), number_of_groups(30_000, 4_000_000), number_of_groups(10**6, 4_000_000)
    (32, 16, 8)
    """
    groups = GROUPS
    while groups > FEWEST_GROUPS and CELLS * groups * pairs > max_cells:
        groups //= 2
    return groups


class GroupCounts:
    """The outcomes of pairs in groups. The counts do not depend on the order of the log, nor does the number of groups.

    A pair has a row of cells: wins, ties and losses of its lower system in each group by judgment, then in each by
    judge. When more pairs meet than `max_cells` allows, neighbouring groups are merged.
    """

    def __init__(self, max_cells: int = MAX_GROUP_CELLS) -> None:
        self.groups = GROUPS
        self.pairs = 0  # that met
        self.version = 0  # of the counts, since this object was made
        self._max_cells = max_cells
        self._slots: Cells = np.full((4, 4), -1, np.int32)  # row of the cells, by lower and upper system
        self._cells: Cells = np.zeros((0, CELLS * GROUPS), np.int32)

    @property
    def nbytes(self) -> int:
        """The memory of the counts."""
        return self._cells.nbytes

    def grow(self, systems: int) -> None:
        """Make room for a number of systems."""
        had = len(self._slots)
        if systems > had:
            room = max(systems, 2 * had) - had
            self._slots = np.pad(self._slots, ((0, room), (0, room)), constant_values=-1)

    def count(self, batch: JudgmentBatch, by_judgment: Ints, by_judge: Ints, *, systems: int) -> None:
        """Count rankings of a number of known systems.

        `by_judgment` and `by_judge` are the groups of each ranking, of 32.
        """
        self.version += 1
        kernel = kernels.suited("groups", batch.pairs)
        pairs = kernel.number_pairs(self._slots, batch.systems, batch.starts, self.pairs)
        self._make_room(pairs, most=systems * (systems - 1) // 2)
        if self.groups < GROUPS:
            shrink = GROUPS // self.groups
            by_judgment, by_judge = by_judgment // shrink, by_judge // shrink
        kernel.count_groups(
            self._cells,
            self._slots,
            by_judgment,
            by_judge,
            batch.systems,
            batch.ranks,
            batch.starts,
            self.groups,
        )

    def take_back(self, vote: Vote, *, by_judge: int) -> None:
        """Subtract a ranking. `by_judge` is the group of its judge, of 32."""
        self.version += 1
        shrink = GROUPS // self.groups
        own = int(groups_of(np.array([vote.key]))[0]) // shrink
        for (i, x), (j, y) in combinations(sorted(zip(vote.systems, vote.ranks, strict=True)), 2):
            outcome = WIN if x < y else LOSS if x > y else TIE
            row = self._cells[self._slots[i, j]].reshape(2, self.groups, 3)
            row[0, own, outcome] -= 1
            row[1, by_judge // shrink, outcome] -= 1

    def _make_room(self, pairs: int, *, most: int) -> None:
        """Make room for this many pairs, of which there can be `most`.

        If groups are merged, a store has the rows of most pairs with more groups, and they are merged when they are
        loaded: to write 40,000 rows at once would take too long.
        """
        groups = min(self.groups, number_of_groups(pairs, self._max_cells))
        if groups < self.groups:
            self._cells = _merge(self._cells, groups)
            self.groups = groups
        self.pairs, had = pairs, len(self._cells)
        if pairs > had:
            room = min(max(pairs, had + had // 2), max(pairs, most)) - had
            self._cells = np.concatenate([self._cells, np.zeros((room, CELLS * groups), np.int32)])

    def totals(self, pairs: Ints) -> Ints:
        """Return wins of the lower system, ties and losses of some pairs."""
        rows = self._cells[self._slots[pairs[:, 0], pairs[:, 1]], : 3 * self.groups]
        totals: Ints = rows.reshape(-1, self.groups, 3).sum(axis=1, dtype=np.int64)
        return totals

    def copy_of(
        self, chosen: Sequence[int], names: Sequence[str], *, judgments: Ints, rankings: int, judges: int
    ) -> CountsCopy:
        """Return a copy with some systems only, given by index in order. All that met must be among them."""
        return CountsCopy(
            systems=tuple(names[i] for i in chosen),
            slots=self._slots[np.ix_(chosen, chosen)],
            cells=self._cells[: self.pairs].copy(),
            judgments=judgments,
            rankings=rankings,
            judges=judges,
        )

    def copy(self, names: Sequence[str], *, judgments: Ints, rankings: int, judges: int) -> CountsCopy:
        """Return a copy that no later judgment changes. `judgments` are those of each system."""
        return CountsCopy(
            systems=tuple(names),
            slots=self._slots[: len(names), : len(names)].copy(),
            cells=self._cells[: self.pairs].copy(),
            judgments=judgments.copy(),
            rankings=rankings,
            judges=judges,
        )

    # -- stored rows -------------------------------------------------------------------------------------

    def dump_rows(self, pairs: Ints) -> list[bytes]:
        """Return the counts of some pairs, packed."""
        count, size = len(pairs), CELLS * self.groups
        packed, ends = np.empty(count * (2 + size // 8 + 4 * size), np.uint8), np.empty(count, np.int64)
        kernel = kernels.suited("groups", count * size // CELLS)
        kernel.pack_rows(self._cells, self._slots, np.ascontiguousarray(pairs), self.groups, packed, ends)
        return cut_rows(packed, ends)

    def load_rows(self, pairs: Ints, rows: Sequence[bytes]) -> None:
        """Load stored counts of pairs, given as lower and upper system, in place of all that are here."""
        decoded = [_decode(row) for row in rows]
        self.groups = min((len(row) // CELLS for row in decoded), default=GROUPS)
        self.groups = min(self.groups, number_of_groups(len(pairs), self._max_cells))
        self.pairs = len(pairs)
        self._cells = np.zeros((self.pairs, CELLS * self.groups), np.int32)
        self._slots[pairs[:, 0], pairs[:, 1]] = np.arange(self.pairs)
        for slot, row in enumerate(decoded):
            self._cells[slot] = _merge(row[None, :], self.groups)[0]


@dataclass(frozen=True, kw_only=True)
class CountsCopy:
    """The group counts of a campaign at one moment, in the order in which its systems and pairs appeared."""

    systems: tuple[str, ...]
    slots: Cells
    cells: Cells
    judgments: Ints
    rankings: int
    judges: int

    def grouped(self) -> GroupedCounts:
        """Return the counts with the systems sorted by name."""
        order = np.array(sorted(range(len(self.systems)), key=self.systems.__getitem__), np.int64)
        most, groups = len(self.cells), self.cells.shape[1] // CELLS
        first, second = np.empty((2, most), np.int64)
        by_judgment, by_judge = np.empty((2, most, groups, 3), np.int64)
        kernel = kernels.suited("groups", self.cells.size)
        pairs = kernel.arrange_groups(self.cells, self.slots, order, first, second, by_judgment, by_judge)
        return GroupedCounts(
            systems=tuple(self.systems[i] for i in order.tolist()),
            first=first[:pairs],
            second=second[:pairs],
            by_judgment=by_judgment[:pairs],
            by_judge=by_judge[:pairs],
            judgments=self.judgments[order],
            rankings=self.rankings,
            judges=self.judges,
        )


def _merge(cells: Cells, groups: int) -> Cells:
    """Return rows with fewer groups. Each is the sum of neighbours."""
    had = cells.shape[1] // CELLS
    merged: Cells = cells.reshape(len(cells), 2, groups, had // groups, 3).sum(axis=3, dtype=np.int32)
    return merged.reshape(len(cells), CELLS * groups)


def has_same_counts(one: bytes, other: bytes) -> bool:
    """Return whether two stored rows hold the same counts, in the smaller number of groups of the two."""
    first, second = _decode(one)[None, :], _decode(other)[None, :]
    groups = min(first.shape[1], second.shape[1]) // CELLS
    return bool(np.array_equal(_merge(first, groups), _merge(second, groups)))


def _decode(row: bytes) -> Cells:
    """Return the cells of a packed row. Raise ValueError if it can't be read, and StoreOutdated if it has no groups."""
    if row[:1] == b"{":
        raise StoreOutdated("the counts of its pairs were stored by an earlier version, without groups")
    groups, width = row[:2]
    if groups not in {GROUPS // shrink for shrink in (1, 2, 4)} or width not in WIDTHS:
        raise ValueError(f"the counts of a pair begin with {row[:2].hex()}")
    size = CELLS * groups
    counted = np.unpackbits(np.frombuffer(row, np.uint8, size // 8, 2)).astype(np.bool_)
    cells: Cells = np.zeros(size, np.int32)
    cells[counted] = np.frombuffer(row, f"<u{width}", offset=2 + size // 8)
    return cells
