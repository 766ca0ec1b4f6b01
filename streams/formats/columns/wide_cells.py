"""The cells of the wide columns: which one counts, times and durations as numbers, and which rows are not usual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streams.wire.limits import MAX_DURATION_MS
from streams.wire.scanner import kernels
from streams.wire.scanner.kernels.rows import CELL_ROWS
from streams.wire.scanner.kernels.text import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from streams.formats.columns.cells import Cells
    from streams.formats.columns.wide import WideColumns

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Places = tuple[Ints, Ints]  # the begins and the ends of texts

_SPACE, _LAST_ASCII = 32, 126


@dataclass(frozen=True, kw_only=True)
class WideCells:
    """The wide cells of each row. `times` are microseconds since 1970, and `durations` milliseconds or -1.

    `numbers` are those of rows whose ids are made of them, or -1.
    """

    segments: Places
    judges: Places
    ids: Places
    systems: Places
    ranks: Places
    conversations: Places  # empty if the conversation of the row can't be a repeated one
    times: Ints
    durations: Ints
    numbers: Ints
    has_rankings: bool  # each row has its own systems and ranks
    is_bad: Bools  # rows that need the complete reader

    def table(self, room: Ints) -> Ints:
        """Return the cells as the kernel `fill_rows` takes them. They are put in the room, which is large enough."""
        texts = (*self.segments, *self.judges, *self.ids, *self.systems, *self.ranks)
        parts = (*texts, self.times, self.durations, self.numbers)
        return np.stack(parts, out=room[: CELL_ROWS * len(self.times)].reshape(CELL_ROWS, -1))


def read_wide(cells: Cells, names: Sequence[str], wide: WideColumns, first: int) -> WideCells:
    """Return the wide cells of a block with these columns. A row without a time has its number: the first has `first`.

    The complete reader finds out what is wrong with a time or a duration that is not usual.
    """
    chosen = wide.segment, wide.judge, wide.id, wide.systems, wide.ranks, wide.number, wide.empty
    segments, judges, ids, systems, ranks, number, empty = (_choose(cells, names, each) for each in chosen)
    times, has_time = _read_times(cells, _choose(cells, names, wide.time), with_dates=True)
    durations, has_duration = _read_times(cells, _choose(cells, names, wide.duration), with_dates=False)
    is_bad = has_time & (times == NO_TIME)
    milliseconds = np.where(has_duration, durations // 1000, -1)
    is_bad |= has_duration & ((durations < 0) | (durations % 1000 != 0) | (milliseconds > MAX_DURATION_MS))
    if wide.is_stripped:
        is_bad |= _has_edge(cells, names, wide)
    numbers = np.full(len(cells), -1, np.int64)
    if wide.number:
        kernels.compiled("times").read_numbers(np.frombuffer(cells.data, np.uint8), *number, numbers)
        is_bad |= numbers < 0
    if wide.empty:
        is_bad |= empty[0] < empty[1]
    if wide.systems:
        is_bad |= systems[0] == systems[1]
    seconds = numbers if wide.number else first + np.arange(len(cells))
    conversations = _choose(cells, names, (*wide.conversation, *wide.timed_conversation))
    own = _choose(cells, names, wide.conversation)
    is_untimed = (own[0] == own[1]) & ~has_time
    return WideCells(
        segments=segments,
        judges=judges,
        ids=ids,
        systems=systems,
        ranks=ranks,
        conversations=(conversations[0], np.where(is_untimed, conversations[0], conversations[1])),
        times=times if has_time.all() else np.where(has_time, times, seconds * 1_000_000),
        durations=milliseconds,
        numbers=numbers,
        has_rankings=bool(wide.systems),
        is_bad=is_bad,
    )


def _choose(cells: Cells, names: Sequence[str], chosen: Sequence[str]) -> Places:
    """Return the places of the first of these columns whose cell is not empty."""
    columns = [names.index(name) for name in chosen if name in names]
    if not columns:
        nothing = np.zeros(len(cells), np.int64)
        return nothing, nothing
    begins, ends = cells.begins[columns[-1]], cells.ends[columns[-1]]
    for column in reversed(columns[:-1]):
        is_given = cells.ends[column] > cells.begins[column]
        begins = np.where(is_given, cells.begins[column], begins)
        ends = np.where(is_given, cells.ends[column], ends)
    return begins, ends


def _read_times(cells: Cells, places: Places, *, with_dates: bool) -> tuple[Ints, Bools]:
    """Return the times or durations in microseconds, and which rows have one."""
    begins, ends = places
    has_time = ends > begins
    times = np.full(len(cells), NO_TIME, np.int64)
    if has_time.any():
        data = np.frombuffer(cells.data, np.uint8)
        kernels.compiled("times").read_times(data, begins, ends, with_dates, times)
    return times, has_time


def _has_edge(cells: Cells, names: Sequence[str], wide: WideColumns) -> Bools:
    """Return which rows have a wide cell that begins or ends with a space, or with a letter that is not ASCII."""
    data = np.frombuffer(cells.data, np.uint8)
    found = np.zeros(len(cells), np.bool_)
    for column, name in enumerate(names):
        if name in wide.names:
            begins, ends = cells.begins[column], cells.ends[column]
            for edge in (data[begins], data[np.maximum(ends - 1, 0)]):
                found |= (ends > begins) & ((edge <= _SPACE) | (edge > _LAST_ASCII))
    return found
