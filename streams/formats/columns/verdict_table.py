"""The verdicts of a table: each one has a number, and its template in arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.formats.names import ANONYMOUS, UNSPECIFIED
from streams.wire.scanner import NameTable, kernels
from streams.wire.scanner.kernels.hash_tables import FULL
from streams.wire.scanner.kernels.rows import TEMPLATE
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from streams.formats.columns.cells import Cells
    from streams.formats.columns.templates import Template

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

_MOST_TEMPLATES = 50_000  # that are kept
_MOST_BYTES = 2**24  # of the cells of their verdicts


class VerdictTable:
    """The verdicts so far. Rows with equal cells in these columns have the same number, in all blocks of a table."""

    def __init__(self, columns: Sequence[int]) -> None:
        self.names = NameTable()  # of the judgments
        segment, judge = UNSPECIFIED.encode(), ANONYMOUS.encode()
        self._unnamed_texts = segment + judge
        self.unnamed: Ints = np.append(
            self.names.number((UNSPECIFIED, ANONYMOUS)), (len(segment), len(segment) + len(judge))
        )
        self._columns: Ints = np.array(columns, np.int64)
        self._forget()

    def _forget(self) -> None:
        self._cells = NameTable()
        self._slots = np.full(2**12, -1, np.int32)
        self._keys: Ints = np.zeros((2**11, len(self._columns)), np.int64)
        self._firsts: Ints = np.zeros(2**11, np.int64)
        self._used: Ints = np.zeros(1, np.int64)
        self.templates: list[Template | None] = []
        self.is_bad: Bools = np.zeros(0, np.bool_)  # such rows need the complete reader
        self.is_left_out: Bools = np.zeros(0, np.bool_)
        self.is_checked: Bools = np.zeros(0, np.bool_)  # a judgment was compared with that of the complete reader
        self.sequences: Ints = np.zeros(0, np.int64)
        # What the kernel `fill_rows` knows of the templates.
        self.rows: Ints = np.zeros((0, TEMPLATE), np.int64)
        self.members: Ints = np.zeros((2, 0), np.int64)
        self.texts = self._unnamed_texts

    def number(self, cells: Cells, make: Callable[[Sequence[int]], Sequence[Template | None]]) -> Ints:
        """Return the number of the verdict of each row. `make` returns the templates of rows with new verdicts."""
        if len(self.templates) > _MOST_TEMPLATES or self._cells.nbytes > _MOST_BYTES:
            self._forget()
        groups: Ints = np.zeros(len(cells), np.int64)
        number_rows = kernels.compiled("cells").number_rows
        tables = self._slots, self._keys, self._firsts, self._used
        given = np.frombuffer(cells.data, np.uint8), cells.begins, cells.ends, self._columns
        while number_rows(*given, SEED, *self._cells.arrays, *tables, groups) == FULL:
            self._cells.grow()
            tables = self._grow()
        new = self._firsts[len(self.templates) : int(self._used[0])].tolist()
        if new:
            self._add(make(new))
        return groups

    def _grow(self) -> tuple[NDArray[np.int32], Ints, Ints, Ints]:
        """Double the room for verdicts."""
        self._slots = np.full(2 * len(self._slots), -1, np.int32)
        self._keys, self._firsts = (np.concatenate([array, array]) for array in (self._keys, self._firsts))
        kernels.compiled("cells").rebuild_groups(self._slots, self._keys, int(self._used[0]), SEED)
        return self._slots, self._keys, self._firsts, self._used

    def _add(self, templates: Sequence[Template | None]) -> None:
        self.templates += templates
        self.is_bad = np.append(self.is_bad, [template is None for template in templates])
        self.is_left_out = np.append(self.is_left_out, [bool(each and each.left_out) for each in templates])
        self.is_checked = np.append(self.is_checked, [each is None or bool(each.left_out) for each in templates])
        self.sequences = np.append(self.sequences, [each.sequence if each else 0 for each in templates])
        systems: list[str] = []
        ranks: list[int] = []
        rows: list[tuple[int, ...]] = []
        texts, size, before = [self.texts], len(self.texts), self.members.shape[1]
        for each in templates:
            first = before + len(systems)
            if each is None or each.left_out:
                rows.append((0, first, first, size, size, size))
                continue
            systems += each.systems
            ranks += each.ranks
            texts += (each.before, each.after)
            middle = size + len(each.before)
            rows.append((0, first, before + len(systems), size, middle, middle + len(each.after)))
            size = middle + len(each.after)
        self.texts = b"".join(texts)
        added = np.array(rows, np.int64).reshape(-1, TEMPLATE)
        added[:, 0] = self.names.number([each.campaign if each else UNSPECIFIED for each in templates])
        self.rows = np.concatenate([self.rows, added])
        added = np.stack([self.names.number(systems), np.array(ranks, np.int64)])
        self.members = np.concatenate([self.members, added], axis=1)

    def forget_template(self, number: int) -> None:
        """Leave the rows with a verdict to the complete reader."""
        self.is_bad[number] = self.is_checked[number] = True
