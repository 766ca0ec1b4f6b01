"""What a running campaign knows of its judges: their votes against those before, per judge and system that they met."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.core import kernels
from streams.core.judges.live import estimate_later_sums, live_residuals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


class JudgeResiduals:
    """Sums of votes minus predictions. They depend on the log alone, not on how it was split into batches."""

    def __init__(self) -> None:
        self._ability: Floats = np.zeros(4)
        self._information: Floats = np.full(4, PRIOR_INFORMATION)
        self._shared: Floats = np.array([FIRST_MARGIN, FIRST_MARGIN_INFORMATION, 0.0, 0.0])
        self._by_judge: Ints = np.zeros((4, JUDGE_SUMS), np.int64)
        self._by_cell: Ints = np.zeros((4, CELL_SUMS), np.int64)
        self._cells: list[dict[int, int]] = []  # row in `_by_cell` by system, of each judge
        self._used = 0  # rows of `_by_cell`
        self._keys: Ints = np.zeros((4, 2), np.int64)  # judge and system of each row
        self._dirty_judges: set[int] = set()
        self._dirty_systems: set[int] = set()

    def apply(self, batch: JudgmentBatch, *, systems: int, judges: int) -> None:
        """Add the rankings of a batch, in order, to the sums of a number of known systems and judges."""
        if not batch.pairs:
            return
        self._grow(systems, judges)
        by_item = np.repeat(batch.judges, np.diff(batch.starts))
        met, place = np.unique(by_item * systems + batch.systems, return_inverse=True)
        rows = np.array([self._row(*divmod(key, systems)) for key in met.tolist()], np.int64)
        kernels.suited("residuals", 2 * batch.pairs).follow_votes(
            self._ability,
            self._information,
            self._shared,
            self._by_judge,
            self._by_cell,
            rows[place],
            batch.judges,
            batch.systems,
            batch.ranks,
            batch.starts,
        )
        self._dirty_judges.update(batch.judges.tolist())
        self._dirty_systems.update(batch.systems.tolist())

    def _row(self, judge: int, system: int) -> int:
        """Return the row of a judge and a system, a new one if they meet for the first time."""
        cells = self._cells[judge]
        row = cells.get(system)
        if row is None:
            row = cells[system] = self._used
            self._used += 1
            self._by_cell, self._keys = _with_room(self._by_cell, self._used), _with_room(self._keys, self._used)
            self._keys[row] = judge, system
        return row

    def _grow(self, systems: int, judges: int) -> None:
        if systems > len(self._ability):
            room = max(systems, 2 * len(self._ability)) - len(self._ability)
            self._ability = np.append(self._ability, np.zeros(room))
            self._information = np.append(self._information, np.full(room, PRIOR_INFORMATION))
        self._by_judge = _with_room(self._by_judge, judges)
        self._cells += [{} for _ in range(judges - len(self._cells))]

    def live(self, systems: Sequence[str], judges: Sequence[str], *, tested: bool = True) -> LiveResiduals:
        """Return the residuals of the judges, to be tested, or of nobody."""
        order = np.lexsort((self._keys[: self._used, 1], self._keys[: self._used, 0]))
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
        rows = {JUDGE + judges[i]: pack(self._judge_row(i)) for i in sorted(self._dirty_judges)}
        for i in sorted(self._dirty_systems):
            rows[SYSTEM + systems[i]] = pack((float(self._ability[i]), float(self._information[i])))
        if rows:
            rows[SHARED] = pack(self._shared.tolist())
        self.forget_changes()
        return rows

    def _judge_row(self, judge: int) -> list[int]:
        row: list[int] = self._by_judge[judge].tolist()
        for system, cell in sorted(self._cells[judge].items()):  # independent of the batches
            row += [system, *self._by_cell[cell].tolist()]
        return row

    def forget_changes(self) -> None:
        """Forget which rows changed."""
        self._dirty_judges.clear()
        self._dirty_systems.clear()

    def restore(self, rows: Mapping[str, bytes], systems: Mapping[str, int], judges: Mapping[str, int]) -> None:
        """Load stored rows. Raise KeyError or ValueError if a row names nobody, or can't be read."""
        self._grow(len(systems), len(judges))
        for key, stored in rows.items():
            if key == SHARED:
                self._shared = np.array(msgspec.msgpack.decode(stored, type=list[float]), np.float64)
            elif key.startswith(SYSTEM):
                i = systems[key.removeprefix(SYSTEM)]
                self._ability[i], self._information[i] = msgspec.msgpack.decode(stored, type=tuple[float, float])
            else:
                self._load_judge(judges[key.removeprefix(JUDGE)], msgspec.msgpack.decode(stored, type=list[int]))

    def _load_judge(self, judge: int, row: list[int]) -> None:
        if len(row) % (1 + CELL_SUMS) == FIRST_SUMS % (1 + CELL_SUMS):
            row[FIRST_SUMS:FIRST_SUMS] = estimate_later_sums(row[:FIRST_SUMS])
        self._by_judge[judge] = row[:JUDGE_SUMS]
        for start in range(JUDGE_SUMS, len(row), 1 + CELL_SUMS):
            cell = self._row(judge, row[start])
            self._by_cell[cell] = row[start + 1 : start + 1 + CELL_SUMS]


def _with_room(table: Ints, rows: int) -> Ints:
    """Return a table with room for so many rows. It at least doubles when it grows."""
    if rows <= len(table):
        return table
    room = max(rows, 2 * len(table)) - len(table)
    return np.concatenate([table, np.zeros((room, table.shape[1]), np.int64)])
