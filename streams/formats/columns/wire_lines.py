"""Rows of a table as lines on the wire. They are written only if somebody needs whole judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.formats.columns.cells import TextPool
from streams.formats.names import ANONYMOUS, UNSPECIFIED
from streams.wire.scanner.kernels.lines import ID_BEGIN, ID_END, LINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from streams.formats.columns.cells import Cells
    from streams.formats.columns.templates import Template
    from streams.formats.columns.wide_cells import Places, WideCells

    Ints = NDArray[np.int64]


def write_lines(
    cells: Cells,
    wide: WideCells,
    groups: Ints,
    templates: Sequence[Template | None],
    *,
    ids: bytes,
    rows: Ints,
    rankings: Sequence[bytes] = (),
) -> bytes:
    """Return judgments as lines of JSON. `rows` are their columns, which say where in `ids` the id of each is.

    `rankings` are the fields of the systems and ranks of each judgment, if templates have none.
    """
    pool = TextPool(cells.data)
    places = rows[LINE]
    before_ids, _ = pool.add(ids)
    used, which = np.unique(groups[places], return_inverse=True)
    begins, ends = pool.add_all([template.fields if (template := templates[k]) else b"" for k in used.tolist()])
    keys = [pool.add(text) for text in (b'{"id":"', b'","segment":"', b'","judge":"', b'","at":"', b'",')]
    values = (
        (before_ids + rows[ID_BEGIN], before_ids + rows[ID_END]),
        given_or(pool.add(UNSPECIFIED.encode()), wide.segments, places),
        given_or(pool.add(ANONYMOUS.encode()), wide.judges, places),
        pool.add_times(wide.times[places]),
        (begins[which], ends[which]),
    )
    parts: list[tuple[Ints | int, Ints | int]] = [part for pair in zip(keys, values, strict=True) for part in pair]
    if rankings:
        parts += (pool.add(b","), pool.add_all(rankings))
    durations = wide.durations[places]
    if (durations >= 0).any():
        key, nothing = pool.add(b',"duration_ms":'), durations < 0
        begins, ends = pool.add_numbers(np.maximum(durations, 0))
        parts.append((np.where(nothing, 0, key[0]), np.where(nothing, 0, key[1])))
        parts.append((np.where(nothing, 0, begins), np.where(nothing, 0, ends)))
    return pool.join([*parts, pool.add(b"}\n")], len(places))[0]


def given_or(other: tuple[Ints | int, Ints | int], given: Places, places: Ints) -> Places:
    """Return given texts at these places, with another one instead of those that are empty."""
    begins, ends = given[0][places], given[1][places]
    is_empty = begins == ends
    return np.where(is_empty, other[0], begins), np.where(is_empty, other[1], ends)
