"""Tables with one column per system and one per rank: the cells of a row are joined to the texts of one ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streams.formats.columns.cells import TextPool, cells_of_texts
from streams.wire.scanner.kernels.ranking_texts import SHARING
from streams.wire.scanner.kernels.text import PADDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from streams.formats.columns.cells import Cells

    Ints = NDArray[np.int64]


def join_rankings(cells: Cells, kept: Sequence[int], systems: Sequence[int], ranks: Sequence[int]) -> Cells:
    """Return the kept columns and three more: the systems as a|b, their ranks as 1|2, and one that is mostly empty.

    The last one has a `+` if a name has one, which would mean in the joined text that two systems share an output.
    A name with a `|` has more parts than there are ranks.
    """
    names, name_begins, name_ends = _join(cells, systems)
    numbers, number_begins, number_ends = _join(cells, ranks)
    size = len(cells.data)
    begins = np.stack([*cells.begins[kept], size + name_begins, size + len(names) + number_begins, name_begins])
    ends = np.stack([*cells.ends[kept], size + name_ends, size + len(names) + number_ends, name_begins])
    if SHARING in names:
        places = np.flatnonzero(np.frombuffer(names, np.uint8) == SHARING)
        rows = np.searchsorted(name_ends, places, side="right")
        begins[-1, rows], ends[-1, rows] = size + places, size + places + 1
    return cells_of_texts(cells.data + names + numbers + bytes(PADDING), begins, ends, cells.row_ends)


def _join(cells: Cells, columns: Sequence[int]) -> tuple[bytes, Ints, Ints]:
    """Return the texts of these columns, joined by `|`, and the begins and ends of the rows in them."""
    pool = TextPool(cells.data)
    between = pool.add(b"|")
    parts: list[tuple[Ints | int, Ints | int]] = []
    for column in columns:
        parts += (between, (cells.begins[column], cells.ends[column]))
    texts, ends = pool.join(parts[1:], len(cells))
    return texts, np.append(0, ends)[:-1], ends
