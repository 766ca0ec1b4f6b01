"""The stored rows of segments: a row with the index of each name, written once, and pages with what changes.

A batch of a long log changes most segments of a campaign. A page holds 32 of them, so that few rows are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from streams.core.campaign.packing import WIDTHS, width_of
from streams.core.campaign.state import decode_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from streams.core.models import Model

    Ints = NDArray[np.int64]

PAGE = 32  # segments of a page


class SegmentRow(Struct, frozen=True, kw_only=True, array_like=True):
    """One segment."""

    index: int
    judgments: int
    state: tuple[float, ...] = ()


def page_of(segment: int) -> int:
    """Return the page of a segment."""
    return segment // PAGE


def encode_names(names: Sequence[str], first: int) -> dict[str, bytes]:
    """Return the rows of new names, with their indices in digits. The first one has the index `first`."""
    return {name: b"%d" % index for index, name in enumerate(names, first)}


def encode_pages(pages: Iterable[int], judgments: Ints, model: Model) -> dict[str, bytes]:
    """Return pages as rows, by number: size, bytes per count, counts, then the model's own floats, little-endian."""
    found = {}
    for page in pages:
        counts = judgments[page * PAGE : (page + 1) * PAGE]
        width = width_of(max(counts.tolist()))
        row = bytes((len(counts), width)) + counts.astype(f"<u{width}").tobytes()
        if model.widths["segments"]:
            first = page * PAGE
            states = [model.dump_row("segments", first + place) for place in range(len(counts))]
            row += np.array(states, "<f8").tobytes()
        found[str(page)] = row
    return found


def decode_segments(names: Mapping[str, bytes], pages: Mapping[str, bytes]) -> dict[str, SegmentRow]:
    """Return the segments that are stored, by name. Raise ValueError or KeyError if a row can't be read.

    Before layout 6 the row of a name had all of a segment. It is of no use any more when the segment has a page.
    """
    found, places = {}, {}
    for name, row in names.items():
        if row.isdigit():
            places[name] = int(row)
        else:
            found[name] = decode_row(row, SegmentRow)
            places[name] = found[name].index
    decoded = {int(number): _decode_page(row) for number, row in pages.items()}
    for name, index in places.items():
        if name not in found or page_of(index) in decoded:
            counts, states = decoded[page_of(index)]
            place = index % PAGE
            found[name] = SegmentRow(index=index, judgments=counts[place], state=tuple(states[place]))
    return found


def _decode_page(row: bytes) -> tuple[list[int], list[list[float]]]:
    if len(row) < 2 or row[0] > PAGE or row[1] not in WIDTHS:
        raise ValueError(f"a page of segments begins with {row[:2].hex()}")
    size, width = row[:2]
    end = 2 + size * width
    states = np.frombuffer(row, "<f8", offset=end).reshape(size, -1)
    return np.frombuffer(row[:end], f"<u{width}", offset=2).tolist(), states.tolist()
