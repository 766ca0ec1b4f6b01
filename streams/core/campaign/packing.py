"""Whole numbers as bytes in stored rows. Each row has its own number of bytes per number."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTHS = (1, 2, 4, 8)  # bytes of a number


def width_of(most: int) -> int:
    """Return the bytes that each number of a row needs, given the largest one. None is below 0.

    >>> width_of(255), width_of(256)
    (1, 2)
    """
    return next(width for width in WIDTHS if most < 1 << 8 * width)


def cut_rows(packed: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[bytes]:
    r"""Return rows that a kernel has written one after the other, given where each ends.

    >>> import numpy as np
    >>> cut_rows(np.array([1, 2, 3, 0], np.uint8), np.array([1, 3]))
    [b'\x01', b'\x02\x03']
    """
    rows = packed.data
    return [bytes(rows[first:last]) for first, last in pairwise([0, *ends.tolist()])]
