"""What a running campaign knows of its judges: their votes against those before, per judge and system that they met."""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.core import kernels
from streams.core.campaign.names import distinct_indices
from streams.core.judges.live import estimate_later_sums, live_residuals
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from streams.core.judges.live import LiveResiduals
    from streams.core.models import JudgmentBatch

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

PRIOR_INFORMATION = 0.2777  # 1 / variance of the weak prior of the settled board, in units of the noise
FIRST_MARGIN, FIRST_MARGIN_INFORMATION = 0.3, 20.0
JUDGE_SUMS, CELL_SUMS = 10, 4
FIRST_SUMS = 7  # of a judge, in the rows of an earlier version
SHARED, SYSTEM, JUDGE = "shared", "system ", "judge "  # keys of the stored rows
_HASH_SEED = SEED[:2] >> 32  # of 31 bits, so that no product overflows


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
        self._cells: list[list[int]] = []  # rows of each judge
        self._dirty_judges: set[int] = set()
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

    def _number_cells(self, judges: Ints, systems: Ints, starts: Ints) -> Ints:
        """Return the row of each system of each ranking and its judge, a new one if they meet for the first time."""
        cells, had = np.empty_like(systems), self._cell_count
        number_cells = kernels.suited("residuals", len(systems)).number_cells
        while not number_cells(self._slots, self._keys, self._used, _HASH_SEED, judges, systems, starts, cells):
            self._grow_cells()
        for row, judge in enumerate(self._keys[had : self._cell_count, 0].tolist(), had):
            self._cells[judge].append(row)
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
        self._cells += [[] for _ in range(judges - len(self._cells))]

    def live(self, systems: Sequence[str], judges: Sequence[str], *, tested: bool = True) -> LiveResiduals:
        """Return the residuals of the judges, to be tested, or of nobody."""
        used = self._cell_count
        order = np.lexsort((self._keys[:used, 1], self._keys[:used, 0]))
        return live_residuals(
            tuple(systems),
            tuple(judges),
            tested=tested,
            by_judge=self._by_judge[: len(self._cells)].copy(),
            cell_judge=self._keys[order, 0],
            cell_system=self._keys[order, 1],
            by_cell=self._by_cell[order],
        )

    # -- stored rows -------------------------------------------------------------------------------------

    def touch_judge(self, judge: int) -> None:
        """Write the row of a judge with the next changes, because they have another name."""
        if judge < len(self._cells):
            self._dirty_judges.add(judge)

    def drain_rows(self, systems: Sequence[str], judges: Sequence[str]) -> dict[str, bytes]:
        """Return the encoded rows that changed since the last call."""
        pack = msgspec.msgpack.Encoder().encode
        changed = sorted(self._dirty_judges)
        rows = {JUDGE + judges[i]: pack(row) for i, row in zip(changed, self._judge_rows(changed), strict=True)}
        for i in sorted(self._dirty_systems):
            rows[SYSTEM + systems[i]] = pack((float(self._ability[i]), float(self._information[i])))
        if rows:
            rows[SHARED] = pack(self._shared.tolist())
        self.forget_changes()
        return rows

    def _judge_rows(self, judges: list[int]) -> Iterator[list[int]]:
        """Yield the sums of each of these judges, then those of each system that they met, in order of the systems."""
        ends = [0, *accumulate(len(self._cells[judge]) for judge in judges)]
        cells = np.fromiter(chain.from_iterable(self._cells[judge] for judge in judges), np.int64, ends[-1])
        cells = cells[np.lexsort((self._keys[cells, 1], np.repeat(np.arange(len(judges)), np.diff(ends))))]
        sums = np.column_stack((self._keys[cells, 1], self._by_cell[cells])).ravel().tolist()
        width = 1 + CELL_SUMS
        for own, (first, last) in zip(self._by_judge[judges].tolist(), pairwise(ends), strict=True):
            yield own + sums[width * first : width * last]

    def forget_changes(self) -> None:
        """Forget which rows changed."""
        self._dirty_judges.clear()
        self._dirty_systems.clear()

    def restore(self, rows: Mapping[str, bytes], systems: Mapping[str, int], judges: Mapping[str, int]) -> None:
        """Load stored rows. Raise KeyError or ValueError if a row names nobody, or can't be read."""
        self._grow(len(systems), len(judges))
        loaded: dict[int, list[int]] = {}
        for key, stored in rows.items():
            if key == SHARED:
                self._shared = np.array(msgspec.msgpack.decode(stored, type=list[float]), np.float64)
            elif key.startswith(SYSTEM):
                i = systems[key.removeprefix(SYSTEM)]
                self._ability[i], self._information[i] = msgspec.msgpack.decode(stored, type=tuple[float, float])
            else:
                row = msgspec.msgpack.decode(stored, type=list[int])
                if len(row) % (1 + CELL_SUMS) == FIRST_SUMS % (1 + CELL_SUMS):
                    row[FIRST_SUMS:FIRST_SUMS] = estimate_later_sums(row[:FIRST_SUMS])
                loaded[judges[key.removeprefix(JUDGE)]] = row
        self._load_judges(loaded)

    def _load_judges(self, rows: Mapping[int, list[int]]) -> None:
        parts = [np.array(row[JUDGE_SUMS:], np.int64).reshape(-1, 1 + CELL_SUMS) for row in rows.values()]
        for judge, row in rows.items():
            self._by_judge[judge] = row[:JUDGE_SUMS]
        if parts:
            found, starts = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
            cells = self._number_cells(np.array([*rows], np.int64), np.ascontiguousarray(found[:, 0]), starts)
            self._by_cell[cells] = found[:, 1:]


def _with_room(table: Ints, rows: int) -> Ints:
    """Return a table with room for so many rows. It at least doubles when it grows."""
    if rows <= len(table):
        return table
    room = max(rows, 2 * len(table)) - len(table)
    return np.concatenate([table, np.zeros((room, table.shape[1]), np.int64)])
