"""From cells to judgments: the usual rows of a table become lines as on the wire, which the scanner turns into columns.

Rows with the same verdict share a template, which the complete reader makes of one of them. So a verdict is
read in one place only. The other columns are copied.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from streams.formats.columns.cells import TextPool
from streams.formats.columns.templates import Template, make_template
from streams.formats.names import ANONYMOUS, UNSPECIFIED
from streams.formats.recent import SEPARATOR
from streams.wire.events import Judgment
from streams.wire.limits import MAX_NAME
from streams.wire.scanner import Scanner, kernels
from streams.wire.scanner.kernels.digests import LONGEST_ID, WORK
from streams.wire.scanner.kernels.text import NO_TIME, PADDING
from streams.wire.scanner.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from streams.formats.base import ImportRun
    from streams.formats.columns.cells import Cells
    from streams.formats.columns.templates import JudgeRow
    from streams.formats.columns.wide import WideColumns
    from streams.wire.scanner import JudgmentColumns

    Ints = NDArray[np.int64]
    Places = tuple[Ints, Ints]  # the begins and the ends of texts

_MOST_TEMPLATES = 50_000  # that are kept
_LONG = 10**15  # microseconds; longer durations are left to the complete reader
_SPACE, _LAST_ASCII = 32, 126


@dataclass(frozen=True, kw_only=True)
class Transcribed:
    """The first rows of a block as columns of judgments. The row after them needs the complete reader."""

    rows: int = 0
    places: Ints  # of the judgments among the rows
    columns: JudgmentColumns | None = None
    left_out: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class _WideCells:
    """The wide cells of each row. `times` are microseconds since 1970, and `durations` milliseconds or -1."""

    segments: Places
    judges: Places
    ids: Places
    times: Ints
    has_time: NDArray[np.bool_]
    durations: Ints
    is_bad: NDArray[np.bool_]


class Transcriber:
    """Transcribes the blocks of one table. `names` are the columns of its cells."""

    def __init__(self, names: Sequence[str], wide: WideColumns, judge: JudgeRow, run: ImportRun) -> None:
        self._names = names
        self._wide = wide
        self._judge = judge
        self._run = run
        self._verdict = [place for place, name in enumerate(names) if name not in wide.names]
        self._templates: dict[tuple[bytes, ...], Template | None] = {}
        self._made: dict[int, tuple[tuple[bytes, ...], Judgment]] = {}  # by row, for new templates
        self._scanner = Scanner()

    def transcribe(self, cells: Cells, first: int) -> Transcribed:
        """Return the judgments of the first rows, up to one that is not usual. The first row has the number `first`."""
        groups, templates = self._group(cells, first)
        wide = self._read_wide(cells, first)
        is_bad = wide.is_bad | np.array([template is None for template in templates], np.bool_)[groups]
        count = int(is_bad.argmax()) if is_bad.any() else len(cells)
        kinds = [template.left_out if template else None for template in templates]
        places = np.flatnonzero(np.array([kind is None for kind in kinds], np.bool_)[groups[:count]])
        columns = None
        if len(places):
            lines, ends = _write(cells, wide, places, groups[places], templates, first)
            columns = self._scanner.scan_lines(lines, np.append(0, ends))
            usual = columns.lines == np.arange(len(columns))
            read = len(columns) if usual.all() else int(usual.argmin())
            read = min(read, self._forget_different(places[:read], lines, ends))
            read = self._count_new(cells, wide, places[:read], groups, templates)
            if read < len(places):
                count, places = int(places[read]), places[:read]
                columns = columns.select(np.arange(read)) if read else None
        left_out = Counter(kind for group in groups[:count].tolist() if (kind := kinds[group])) if any(kinds) else {}
        return Transcribed(rows=count, places=places, columns=columns, left_out=left_out)

    def _count_new(
        self, cells: Cells, wide: _WideCells, places: Ints, groups: Ints, templates: Sequence[Template | None]
    ) -> int:
        """Return how many of these rows come before one that repeats a conversation. They are remembered."""
        begins, ends = self._choose(cells, (*self._wide.conversation, *self._wide.timed_conversation))
        timed_only = self._choose(cells, self._wide.conversation)[1] == 0
        known = np.flatnonzero(((ends > begins) & ~(timed_only & ~wide.has_time))[places])
        if not len(known):
            return len(places)
        rows = places[known]
        pool = TextPool(cells.data)
        between = pool.add(SEPARATOR.encode())
        shared = pool.add_all([template.fields if template else b"" for template in templates])
        judge = _given_or(pool.add(ANONYMOUS.encode()), wide.judges, rows)
        parts = ((begins[rows], ends[rows]), judge, pool.add_times(wide.times[rows]))
        texts, text_ends = pool.join(
            [*(each for part in parts for each in (part, between)), (shared[0][groups[rows]], shared[1][groups[rows]])],
            len(rows),
        )
        data, keys = np.frombuffer(texts + bytes(PADDING), np.uint8), np.empty(len(rows), np.int64)
        kernels.compiled("digests").digest_texts(data, text_ends, np.zeros(WORK, np.int64), keys)
        new = self._run.conversations.count_new(keys.tolist())
        return len(places) if new == len(rows) else int(known[new])

    def _read_wide(self, cells: Cells, first: int) -> _WideCells:
        """Return the cells of the wide columns, and the rows in which one of them is not usual."""
        segments, judges, ids = (
            self._choose(cells, names) for names in (self._wide.segment, self._wide.judge, self._wide.id)
        )
        times, has_time = self._read_times(cells, self._wide.time, with_dates=True)
        durations, has_duration = self._read_times(cells, self._wide.duration, with_dates=False)
        is_bad = has_time & (times == NO_TIME)
        is_bad |= has_duration & ((durations < 0) | (durations >= _LONG) | (durations % 1000 != 0))
        for begins, ends in (segments, judges):
            is_bad |= ends - begins > MAX_NAME
        if self._wide.is_stripped:
            is_bad |= self._has_edge(cells)
        return _WideCells(
            segments=segments,
            judges=judges,
            ids=ids,
            times=np.where(has_time, times, (first + np.arange(len(cells))) * 1_000_000),
            has_time=has_time,
            durations=np.where(has_duration, durations // 1000, -1),
            is_bad=is_bad,
        )

    def _group(self, cells: Cells, first: int) -> tuple[Ints, list[Template | None]]:
        """Return the group of each row, and the template of each group."""
        slots = np.full(1 << (2 * len(cells)).bit_length(), -1, np.int64)
        groups, firsts = np.zeros((2, len(cells)), np.int64)
        begins, ends = cells.begins[self._verdict], cells.ends[self._verdict]
        data = np.frombuffer(cells.data, np.uint8)
        found = kernels.compiled("cells").group_rows(data, begins, ends, SEED, slots, groups, firsts)
        rows = firsts[:found]
        if len(self._templates) > _MOST_TEMPLATES:
            self._templates.clear()
        self._made = {}
        columns = zip(begins[:, rows].T.tolist(), ends[:, rows].T.tolist(), strict=True)
        verdicts = [tuple(map(cells.data.__getitem__, map(slice, *places))) for places in columns]
        return groups, [
            self._template(verdict, cells, row, first + row)
            for verdict, row in zip(verdicts, rows.tolist(), strict=True)
        ]

    def _template(self, verdict: tuple[bytes, ...], cells: Cells, row: int, number: int) -> Template | None:
        if verdict not in self._templates:
            values = cells.values(row)
            if self._wide.is_stripped:
                values = [value.strip() if isinstance(value, str) else value for value in values]
            fields = dict(zip(self._names, values, strict=True))
            self._templates[verdict], judgment = make_template(fields, number, self._judge, self._run)
            if judgment is not None:
                self._made[row] = verdict, judgment
        return self._templates[verdict]

    def _choose(self, cells: Cells, names: Sequence[str]) -> Places:
        """Return the places of the first of these columns whose cell is not empty."""
        begins, ends = np.zeros((2, len(cells)), np.int64)
        for name in reversed([name for name in names if name in self._names]):
            column = self._names.index(name)
            is_given = cells.ends[column] > cells.begins[column]
            begins[is_given], ends[is_given] = cells.begins[column][is_given], cells.ends[column][is_given]
        return begins, ends

    def _read_times(self, cells: Cells, names: Sequence[str], *, with_dates: bool) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the times or durations in microseconds, and which rows have one."""
        begins, ends = self._choose(cells, names)
        times = np.empty(len(cells), np.int64)
        data = np.frombuffer(cells.data, np.uint8)
        kernels.compiled("times").read_times(data, begins, ends, with_dates, times)
        return times, ends > begins

    def _has_edge(self, cells: Cells) -> NDArray[np.bool_]:
        """Return which rows have a wide cell that begins or ends with a space, or with a letter that is not ASCII."""
        data = np.frombuffer(cells.data, np.uint8)
        found = np.zeros(len(cells), np.bool_)
        for column, name in enumerate(self._names):
            if name in self._wide.names:
                begins, ends = cells.begins[column], cells.ends[column]
                for edge in (data[begins], data[np.maximum(ends - 1, 0)]):
                    found |= (ends > begins) & ((edge <= _SPACE) | (edge > _LAST_ASCII))
        return found

    def _forget_different(self, places: Ints, lines: bytes, ends: Ints) -> int:
        """Compare each judgment that the complete reader made for a new template with the line of its row.

        Forget the templates of lines that differ. Return how many lines may be used.
        """
        made, self._made = self._made, {}
        count = len(places)
        for row, (verdict, judgment) in made.items():
            line = int(np.searchsorted(places, row))
            if line < len(places) and places[line] == row:
                begin = int(ends[line - 1]) if line else 0
                if msgspec.json.decode(lines[begin : int(ends[line])], type=Judgment) != judgment:
                    self._templates[verdict] = None
                    count = min(count, line)
        return count


def _write(
    cells: Cells, wide: _WideCells, places: Ints, groups: Ints, templates: Sequence[Template | None], first: int
) -> tuple[bytes, Ints]:
    """Return the rows at these places as lines of JSON, and the end of each line."""
    pool = TextPool(cells.data)
    segment = _given_or(pool.add(UNSPECIFIED.encode()), wide.segments, places)
    judge = _given_or(pool.add(ANONYMOUS.encode()), wide.judges, places)
    shared, before, after = (
        (begins[groups], ends[groups])
        for begins, ends in map(
            pool.add_all,
            zip(*((t.fields, t.before, t.after) if t else (b"",) * 3 for t in templates), strict=True),
        )
    )
    begins, ends = wide.ids
    ids = begins[places], ends[places]
    if (ids[0] == ids[1]).any():
        texts, text_ends = pool.join((before, segment, pool.add(b"|"), judge, after), len(places))
        ids = _given_or(_add_ids(pool, texts, text_ends, first + places), wide.ids, places)
    keys = [pool.add(text) for text in (b'{"id":"', b'","segment":"', b'","judge":"', b'","at":"', b'",')]
    values = (ids, segment, judge, pool.add_times(wide.times[places]), shared)
    parts: list[tuple[Ints | int, Ints | int]] = [part for pair in zip(keys, values, strict=True) for part in pair]
    durations = wide.durations[places]
    if (durations >= 0).any():
        key, nothing = pool.add(b',"duration_ms":'), durations < 0
        begins, ends = pool.add_numbers(np.maximum(durations, 0))
        parts.append((np.where(nothing, 0, key[0]), np.where(nothing, 0, key[1])))
        parts.append((np.where(nothing, 0, begins), np.where(nothing, 0, ends)))
    return pool.join([*parts, pool.add(b"}\n")], len(places))


def _add_ids(pool: TextPool, texts: bytes, ends: Ints, numbers: Ints) -> Places:
    """Add ids that are made of texts and the numbers of their rows. Return their places."""
    ids, id_ends = np.empty(LONGEST_ID * len(ends), np.uint8), np.empty(len(ends), np.int64)
    data, work = np.frombuffer(texts + bytes(PADDING), np.uint8), np.zeros(WORK, np.int64)
    size = kernels.compiled("digests").make_ids(data, ends, numbers, work, ids, id_ends)
    begin, _ = pool.add(ids[:size].tobytes())
    return begin + np.append(0, id_ends[:-1]), begin + id_ends


def _given_or(other: tuple[Ints | int, Ints | int], given: Places, places: Ints) -> Places:
    """Return given texts at these places, with another one instead of those that are empty."""
    begins, ends = given[0][places], given[1][places]
    is_empty = begins == ends
    return np.where(is_empty, other[0], begins), np.where(is_empty, other[1], ends)
