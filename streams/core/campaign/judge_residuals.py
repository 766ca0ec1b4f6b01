"""What a running campaign knows of its judges: their votes against those before, per judge and system that they met."""

from __future__ import annotations

from bisect import insort
from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.core import kernels
from streams.core.campaign.names import distinct_indices
from streams.core.campaign.packing import WIDTHS, cut_rows
from streams.core.judges.live import estimate_later_sums, judges_to_test, live_residuals, stored_residuals
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from streams.core.judges.live import LiveResiduals
    from streams.core.judges.residuals import Residuals
    from streams.core.models import JudgmentBatch

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

PRIOR_INFORMATION = 0.2777  # 1 / variance of the weak prior of the settled board, in units of the noise
FIRST_MARGIN, FIRST_MARGIN_INFORMATION = 0.3, 20.0
JUDGE_SUMS, CELL_SUMS = 10, 4
FIRST_SUMS = 7  # of a judge, in the rows of an earlier version
SHARED, SYSTEM, JUDGE, PAGE = "shared", "system ", "judge ", "page "  # begin the keys of stored rows
FIRST_PAGE, LATER_PAGE = 32, 16  # systems of a page; those of the first page are in the row of the judge
_CELL_ROW = 1 + CELL_SUMS  # a system, and its sums
_HASH_SEED = SEED[:2] >> 32  # of 31 bits, so that no product overflows
_pack = msgspec.msgpack.Encoder().encode


class JudgeResiduals:
    """Sums of votes minus predictions. They depend on the log alone, not on how it was split into batches."""

    def __init__(self) -> None:
        self._ability: Floats = np.zeros(4)
        self._information: Floats = np.full(4, PRIOR_INFORMATION)
        self._shared: Floats = np.array([FIRST_MARGIN, FIRST_MARGIN_INFORMATION, 0.0, 0.0])
        self._by_judge: Ints = np.zeros((4, JUDGE_SUMS), np.int64)
        self._by_cell: Ints = np.zeros((4, CELL_SUMS), np.int64)
        self._keys: Ints = np.zeros((4, 2), np.int64)  # judge and system of each row of `_by_cell`
        self._used: Ints = np.zeros(1, np.int64)  # number of these rows
        self._slots = np.full(8, -1, np.int32)  # the hash table of `number_cells`
        self._cells: list[dict[int, list[int]]] = []  # rows of each judge by page, in the order of their systems
        self._dirty_judges: set[int] = set()
        self._dirty_pages: set[tuple[int, int]] = set()  # judges and pages, without the first ones
        self._undivided: set[int] = set()  # judges whose stored row has all pages, as before layout 7
        self._dirty_systems: set[int] = set()

    def apply(self, batch: JudgmentBatch, *, systems: int, judges: int) -> None:
        """Add the rankings of a batch, in order, to the sums of a number of known systems and judges."""
        if not batch.pairs:
            return
        self._grow(systems, judges)
        cells = self._number_cells(batch.judges, batch.systems, batch.starts)
        kernels.suited("residuals", 2 * batch.pairs).follow_votes(
            self._ability,
            self._information,
            self._shared,
            self._by_judge,
            self._by_cell,
            cells,
            batch.judges,
            batch.systems,
            batch.ranks,
            batch.starts,
        )
        self._dirty_judges.update(distinct_indices(batch.judges))
        self._dirty_systems.update(distinct_indices(batch.systems))
        later = batch.systems >= FIRST_PAGE
        judged = self._keys[cells[later], 0]
        self._dirty_pages.update(zip(judged.tolist(), _page_of(batch.systems[later]).tolist(), strict=True))

    def _number_cells(self, judges: Ints, systems: Ints, starts: Ints) -> Ints:
        """Return the row of each system of each ranking and its judge, a new one if they meet for the first time."""
        cells, had = np.empty_like(systems), self._cell_count
        number_cells = kernels.suited("residuals", len(systems)).number_cells
        while not number_cells(self._slots, self._keys, self._used, _HASH_SEED, judges, systems, starts, cells):
            self._grow_cells()
        if self._cell_count > had:
            keys = self._keys
            judged, met = keys[had : self._cell_count].T
            for row, (judge, page) in enumerate(zip(judged.tolist(), _page_of(met).tolist(), strict=True), had):
                insort(self._cells[judge].setdefault(page, []), row, key=lambda each: keys[each, 1])
        return cells

    @property
    def _cell_count(self) -> int:
        return int(self._used[0])

    def _grow_cells(self) -> None:
        """Double the room for rows. The hash table stays half empty."""
        rows, count = 2 * len(self._keys), self._cell_count
        self._by_cell, self._keys = _with_room(self._by_cell, rows), _with_room(self._keys, rows)
        self._slots, self._used[0] = np.full(2 * rows, -1, np.int32), 0
        judges, systems = np.ascontiguousarray(self._keys[:count].T)
        kernel = kernels.suited("residuals", count)
        each = np.arange(count + 1)
        kernel.number_cells(self._slots, self._keys, self._used, _HASH_SEED, judges, systems, each, each[:count].copy())

    def _grow(self, systems: int, judges: int) -> None:
        if systems > len(self._ability):
            room = max(systems, 2 * len(self._ability)) - len(self._ability)
            self._ability = np.append(self._ability, np.zeros(room))
            self._information = np.append(self._information, np.full(room, PRIOR_INFORMATION))
        self._by_judge = _with_room(self._by_judge, judges)
        self._cells += [{} for _ in range(judges - len(self._cells))]

    def live(
        self, systems: Sequence[str], judges: Sequence[str], judgments: Ints, *, tested: bool = True
    ) -> LiveResiduals:
        """Return the residuals of the judges, to be tested, or of nobody. `judgments` are those of each that count."""
        by_judge = self._by_judge[: len(self._cells)].copy()
        chosen = judges_to_test(by_judge)
        found = self._residuals_of(chosen, by_judge) if tested and len(chosen) else None
        judgments = judgments[: len(judges)].copy()
        return live_residuals(tuple(systems), tuple(judges), judgments=judgments, by_judge=by_judge, residuals=found)

    def _residuals_of(self, chosen: Ints, by_judge: Ints) -> Residuals:
        used = self._cell_count
        order = np.lexsort((self._keys[:used, 1], self._keys[:used, 0]))
        cell_judge, cell_system = self._keys[order, 0], self._keys[order, 1]
        return stored_residuals(
            chosen, by_judge, cell_judge=cell_judge, cell_system=cell_system, by_cell=self._by_cell[order]
        )

    # -- stored rows -------------------------------------------------------------------------------------

    def rename_judge(self, judge: int, old: str) -> list[str]:
        """Write the rows of a judge with the next changes, because they have another name. Return the old keys."""
        if judge >= len(self._cells):
            return []
        self._dirty_judges.add(judge)
        pages = self._pages_of(judge)
        self._dirty_pages.update(pages)
        return [JUDGE + old, *(_page_key(page, old) for _, page in pages)]

    def drain_rows(self, systems: Sequence[str], judges: Sequence[str]) -> dict[str, bytes]:
        """Return the encoded rows that changed since the last call."""
        for judge in self._undivided & self._dirty_judges:
            self._dirty_pages.update(self._pages_of(judge))
        self._undivided -= self._dirty_judges
        changed, pages = sorted(self._dirty_judges), sorted(self._dirty_pages)
        packed = self._pack_rows(self._by_judge, [(judge, 0) for judge in changed])
        rows = {JUDGE + judges[i]: row for i, row in zip(changed, packed, strict=True)}
        packed = self._pack_rows(self._by_judge[:, :0], pages)
        rows |= {_page_key(page, judges[i]): row for (i, page), row in zip(pages, packed, strict=True)}
        moved = sorted(self._dirty_systems)
        for i, *row in zip(moved, self._ability[moved].tolist(), self._information[moved].tolist(), strict=True):
            rows[SYSTEM + systems[i]] = _pack(row)
        if rows:
            rows[SHARED] = _pack(self._shared.tolist())
        self.forget_changes()
        return rows

    def _pages_of(self, judge: int) -> list[tuple[int, int]]:
        """Return the pages of a judge that have a row of their own."""
        return [(judge, page) for page in self._cells[judge] if page > 0]

    def _pack_rows(self, by_judge: Ints, pages: list[tuple[int, int]]) -> list[bytes]:
        """Return a row for each page of a judge: the sums of the judge, and those of each system that they met."""
        met_by_each = [self._cells[judge].get(page, []) for judge, page in pages]
        met = np.array([len(each) for each in met_by_each], np.int64)
        cells = np.array([*chain.from_iterable(met_by_each)], np.int64)
        packed = np.empty(2 * len(pages) + 8 * (by_judge.shape[1] * len(pages) + _CELL_ROW * len(cells)), np.uint8)
        judges, ends = np.array([judge for judge, _ in pages], np.int64), np.empty(len(pages), np.int64)
        kernels.suited("residuals", len(cells)).pack_judges(
            by_judge, self._by_cell, self._keys, judges, cells, met, packed, ends
        )
        return cut_rows(packed, ends)

    def forget_changes(self) -> None:
        """Forget which rows changed."""
        self._dirty_judges.clear()
        self._dirty_pages.clear()
        self._dirty_systems.clear()

    def restore(self, rows: Mapping[str, bytes], systems: Mapping[str, int], judges: Mapping[str, int]) -> None:
        """Load stored rows. Raise KeyError or ValueError if a row names nobody, or can't be read."""
        self._grow(len(systems), len(judges))
        cells: list[tuple[int, list[int]]] = []  # judges, and a system and its sums for each that they met
        for key, stored in rows.items():
            if key == SHARED:
                self._shared = np.array(msgspec.msgpack.decode(stored, type=list[float]), np.float64)
            elif key.startswith(SYSTEM):
                i = systems[key.removeprefix(SYSTEM)]
                self._ability[i], self._information[i] = msgspec.msgpack.decode(stored, type=tuple[float, float])
            elif key.startswith(PAGE):
                cells.append((judges[key.split(" ", 2)[2]], decode_row(stored, sums=0)))
            else:
                row, judge = decode_row(stored), judges[key.removeprefix(JUDGE)]
                if len(row) % _CELL_ROW == FIRST_SUMS % _CELL_ROW:
                    row[FIRST_SUMS:FIRST_SUMS] = estimate_later_sums(row[:FIRST_SUMS])
                self._by_judge[judge] = row[:JUDGE_SUMS]
                cells.append((judge, row[JUDGE_SUMS:]))
                if row[JUDGE_SUMS:] and row[-_CELL_ROW] >= FIRST_PAGE:
                    self._undivided.add(judge)
        self._load_cells(cells)

    def _load_cells(self, rows: list[tuple[int, list[int]]]) -> None:
        if not rows:
            return
        parts = [np.array(row, np.int64).reshape(-1, _CELL_ROW) for _, row in rows]
        found, starts = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
        judges = np.array([judge for judge, _ in rows], np.int64)
        cells = self._number_cells(judges, np.ascontiguousarray(found[:, 0]), starts)
        self._by_cell[cells] = found[:, 1:]


def _page_of(systems: Ints) -> Ints:
    """Return the page of each system."""
    return np.maximum((systems - FIRST_PAGE) // LATER_PAGE + 1, 0)


def _page_key(page: int, judge: str) -> str:
    return f"{PAGE}{page} {judge}"


def decode_row(stored: bytes, *, sums: int = JUDGE_SUMS) -> list[int]:
    """Return the numbers of a judge's row, with so many sums of the judge. Raise ValueError if it is no row.

    Before layout 6 they were in msgpack. The row of a page has no sums of the judge.
    """
    if not stored or stored[0] not in WIDTHS:
        return msgspec.msgpack.decode(stored, type=list[int])
    if len(stored) < 2 or stored[1] not in WIDTHS:
        raise ValueError("a row of residuals begins with widths that do not exist")
    own = np.frombuffer(stored, f"<i{stored[0]}", sums, 2)
    of_cells = np.frombuffer(stored, f"<i{stored[1]}", offset=2 + own.nbytes)
    return [*own.tolist(), *of_cells.tolist()]


def join_pages(rows: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the rows of judges as numbers, each with all systems, and the other rows as they are.

    Raise ValueError or KeyError if a row can't be read.
    """
    joined: dict[str, Any] = {key: row for key, row in rows.items() if not key.startswith((JUDGE, PAGE))}
    joined |= {key: decode_row(row) for key, row in rows.items() if key.startswith(JUDGE)}
    pages = [(key.split(" ", 2), row) for key, row in rows.items() if key.startswith(PAGE)]
    for (_, _, judge), row in sorted(pages, key=lambda item: int(item[0][1])):
        joined[JUDGE + judge] += decode_row(row, sums=0)
    return joined


def _with_room(table: Ints, rows: int) -> Ints:
    """Return a table with room for so many rows. It at least doubles when it grows."""
    if rows <= len(table):
        return table
    room = max(rows, 2 * len(table)) - len(table)
    return np.concatenate([table, np.zeros((room, table.shape[1]), np.int64)])
