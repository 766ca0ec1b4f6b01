"""From cells to judgments: the usual rows of a table become columns of judgments.

Rows with the same verdict share a template, which the complete reader makes of one of them. So a verdict is
read in one place only. The other columns are copied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.formats.columns.cells import TextPool
from streams.formats.columns.templates import make_template
from streams.formats.columns.verdict_table import VerdictTable
from streams.formats.columns.wide_cells import read_wide
from streams.formats.columns.wire_lines import given_or, write_lines
from streams.formats.names import ANONYMOUS
from streams.formats.recent import SEPARATOR
from streams.wire.limits import MAX_NAME
from streams.wire.scanner import JudgmentColumns, kernels
from streams.wire.scanner.kernels.digest_lanes import LANES, WORK
from streams.wire.scanner.kernels.hash_tables import FULL
from streams.wire.scanner.kernels.id_texts import LONGEST_ID, NUMBER_DIGITS
from streams.wire.scanner.kernels.lines import ID_END, ROWS
from streams.wire.scanner.kernels.rows import CELL_ROWS, FIRST_MEMBER, LAST_MEMBER, TEXTS
from streams.wire.scanner.kernels.text import PADDING
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from streams.formats.base import ImportRun
    from streams.formats.columns.cells import Cells
    from streams.formats.columns.row_numbers import RowNumbers
    from streams.formats.columns.templates import JudgeRow, Template
    from streams.formats.columns.wide import WideColumns
    from streams.formats.columns.wide_cells import WideCells
    from streams.wire.events import Judgment

    Ints = NDArray[np.int64]

_AT_ONCE = 64  # rows whose cells are read together by the complete reader


@dataclass(frozen=True, kw_only=True)
class Transcribed:
    """The first rows of a block as columns of judgments. The row after them needs the complete reader."""

    rows: int
    places: Ints  # of the judgments among the rows
    columns: JudgmentColumns | None
    left_out: Mapping[str, int]


class Transcriber:
    """Transcribes the blocks of one table. `names` are the columns of its cells."""

    def __init__(
        self,
        names: Sequence[str],
        wide: WideColumns,
        judge: JudgeRow,
        run: ImportRun,
        numbers: RowNumbers | None = None,
    ) -> None:
        self._names = names
        self._wide = wide
        self._judge = judge
        self._run = run
        self._numbers = numbers
        self._verdicts = VerdictTable([place for place, name in enumerate(names) if name not in wide.names])
        self._made: dict[int, Judgment] = {}  # by row, for new templates
        self._work: Ints = np.zeros(WORK, np.int64)
        self._room: Ints = np.empty(0, np.int64)  # used again, because new memory is slow
        self._trial = replace(run, shared=None)

    def transcribe(self, cells: Cells, first: int) -> Transcribed:
        """Return the judgments of the first rows, up to one that is not usual. The first row has the number `first`."""
        self._made = {}
        table, wide = self._verdicts, read_wide(cells, self._names, self._wide, first)
        groups = table.number(cells, lambda rows: self._make(cells, rows, first))
        is_bad = wide.is_bad | table.is_bad[groups]
        if self._numbers is not None:
            sequences = table.sequences[groups]
            is_bad |= self._numbers.find_bad(sequences, wide.numbers, has_id=wide.ids[0] < wide.ids[1])
        count = int(is_bad.argmax()) if is_bad.any() else len(cells)
        is_left_out = table.is_left_out[groups[:count]]
        places = np.flatnonzero(~is_left_out)
        columns = None
        if len(places):
            columns = self._fill(cells, wide, groups, places, first)
            read = min(len(columns), self._check_new(columns, groups, cells, first))
            read = self._count_new(cells, wide, places[:read], groups)
            if read < len(places):
                count, places = int(places[read]), places[:read]
                columns = columns.select(np.arange(read)) if read else None
        if self._numbers is not None:
            self._numbers.advance(sequences[:count], wide.numbers[:count])
        left_out: dict[str, int] = {}
        if is_left_out[:count].any():
            numbers = np.bincount(groups[:count], minlength=len(table.templates)).tolist()
            for template, number in zip(table.templates, numbers, strict=True):
                if number and template and template.left_out:
                    left_out[template.left_out] = left_out.get(template.left_out, 0) + number
        return Transcribed(rows=count, places=places, columns=columns, left_out=left_out)

    def _make(self, cells: Cells, rows: Sequence[int], first: int) -> list[Template | None]:
        """Return the templates of rows, as the complete reader makes them."""
        templates: list[Template | None] = []
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            for row, values in zip(some, cells.values(some), strict=True):
                if self._wide.is_stripped:
                    values = [value.strip() if isinstance(value, str) else value for value in values]
                fields = dict(zip(self._names, values, strict=True))
                sequence = None if self._numbers is None else self._numbers.place(fields)
                template, judgment = make_template(
                    fields,
                    first + row,
                    self._judge,
                    self._trial,
                    sequence=sequence,
                    has_ranking=bool(self._wide.systems),
                )
                if judgment is not None:
                    self._made[row] = judgment
                templates.append(template)
        return templates

    def _fill(self, cells: Cells, wide: WideCells, groups: Ints, places: Ints, first: int) -> JudgmentColumns:
        """Return the judgments of the rows at these places, up to one that is not usual."""
        table, count = self._verdicts, len(places)
        begins, ends = wide.ids
        before = int((table.rows[:, TEXTS + 1] - table.rows[:, TEXTS]).max())
        room = count * (max(LONGEST_ID, before + NUMBER_DIGITS) + 1) + int((ends - begins).sum()) + PADDING
        ids = np.empty(room, np.uint8)
        longest = int((table.rows[:, TEXTS + 2] - table.rows[:, TEXTS]).max())
        for own_begins, own_ends in (wide.systems, wide.ranks):
            longest += 1 + int((own_ends - own_begins).max())
        scratch = np.empty(LANES * (longest + 2 * MAX_NAME + 1) + PADDING, np.uint8)
        rows, starts = np.empty((ROWS, count), np.int64), np.empty(count + 1, np.int64)
        sizes = table.rows[:, LAST_MEMBER] - table.rows[:, FIRST_MEMBER]
        most = int(sizes[groups[places]].sum())
        if self._wide.systems:  # each separator has a system after it
            most = count + cells.data.count(b"|") + cells.data.count(b"+")
        systems, ranks = np.empty((2, most), np.int64)
        checksums = np.empty(count, np.int64)
        if len(self._room) < CELL_ROWS * len(cells):
            self._room = np.empty(CELL_ROWS * len(cells), np.int64)
        given = np.frombuffer(cells.data, np.uint8), wide.table(self._room), places, groups, first
        templates = table.rows, table.members, np.frombuffer(table.texts + bytes(PADDING), np.uint8), table.unnamed
        found = FULL
        while found == FULL:
            found = kernels.compiled("rows").fill_rows(
                *given,
                *templates,
                SEED,
                *table.names.arrays,
                scratch,
                self._work,
                rows,
                starts,
                systems,
                ranks,
                ids,
                checksums,
            )
            if found == FULL:
                table.names.grow()
        table.names.read_new()
        members = int(starts[found])
        if found < count:
            rows, starts, checksums = np.ascontiguousarray(rows[:, :found]), starts[: found + 1], checksums[:found]
        texts = ids[: int(rows[ID_END, -1]) + 1].tobytes() if found else b""
        columns = JudgmentColumns(
            data=texts + bytes(PADDING),
            names=table.names.names,
            begins=starts[:0],
            rows=rows,
            starts=starts,
            systems=systems[:members].copy(),
            ranks=ranks[:members].copy(),
            checksums=checksums,
            id_lines=texts,
        )
        return replace(columns, write=partial(_write, cells, wide, groups, table.templates, columns))

    def _check_new(self, columns: JudgmentColumns, groups: Ints, cells: Cells, first: int) -> int:
        """Compare a judgment of each new template with that of the complete reader. Forget templates that differ.

        Return how many judgments may be used.
        """
        table, count = self._verdicts, len(columns)
        if table.is_checked.all():
            return count
        found, places = np.unique(groups[columns.lines], return_index=True)
        is_new = ~table.is_checked[found]
        rows = columns.lines[places[is_new]].tolist()
        judgments = columns.select(np.sort(places[is_new]))
        by_line = dict(zip(judgments.lines.tolist(), judgments, strict=True))
        for group, place, row in zip(found[is_new].tolist(), places[is_new].tolist(), rows, strict=True):
            if row not in self._made:
                self._make(cells, [row], first)
            if by_line[row] == self._made.get(row):
                table.is_checked[group] = True
            else:
                table.forget_template(group)
                count = min(count, place)
        return count

    def _count_new(self, cells: Cells, wide: WideCells, places: Ints, groups: Ints) -> int:
        """Return how many of these rows come before one that repeats a conversation. They are remembered."""
        begins, ends = wide.conversations
        known = np.flatnonzero((ends > begins)[places])
        if not len(known):
            return len(places)
        rows = places[known]
        pool = TextPool(cells.data)
        between = pool.add(SEPARATOR.encode())
        used, which = np.unique(groups[rows], return_inverse=True)
        templates = [self._verdicts.templates[group] for group in used.tolist()]
        shared = pool.add_all([template.fields if template else b"" for template in templates])
        judge = given_or(pool.add(ANONYMOUS.encode()), wide.judges, rows)
        parts = ((begins[rows], ends[rows]), judge, pool.add_times(wide.times[rows]))
        texts, text_ends = pool.join(
            [*(each for part in parts for each in (part, between)), (shared[0][which], shared[1][which])], len(rows)
        )
        data, keys = np.frombuffer(texts + bytes(PADDING), np.uint8), np.empty(len(rows), np.int64)
        kernels.compiled("digest_lanes").digest_texts(data, text_ends, self._work, keys)
        new = self._run.conversations.count_new(keys.tolist())
        return len(places) if new == len(rows) else int(known[new])


def _rankings(columns: JudgmentColumns, places: Ints) -> list[bytes]:
    """Return the systems and ranks of some judgments as the insides of JSON objects."""
    names, found = columns.names, []
    for first, last in zip(columns.starts[places].tolist(), columns.starts[places + 1].tolist(), strict=True):
        systems = [names[number] for number in columns.systems[first:last].tolist()]
        found.append(msgspec.json.encode({"systems": systems, "ranks": columns.ranks[first:last].tolist()})[1:-1])
    return found


def _write(
    cells: Cells,
    wide: WideCells,
    groups: Ints,
    templates: Sequence[Template | None],
    columns: JudgmentColumns,
    lines: Ints,
) -> bytes:
    """Return the judgments of these lines as JSON."""
    places = np.searchsorted(columns.lines, lines)
    rankings = _rankings(columns, places) if wide.has_rankings else ()
    return write_lines(
        cells, wide, groups, templates, ids=columns.data, rows=columns.rows[:, places], rankings=rankings
    )
