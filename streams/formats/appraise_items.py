"""The segments of an Appraise export whose items are numbered within a task instead of within a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streams.formats.names import shorten_name

if TYPE_CHECKING:
    from streams.wire.events import Judgment

    Document = tuple[str, str]  # campaign and name
    Showing = tuple[str, str]  # judge and system


class ItemNumbers:
    """The items of each document, by judge and system.

    In most exports, an item has the same number for all judges. In some, items are numbered from 1 to 100 in the order
    in which one account saw them. Then the same number means different segments, and the place within the document is
    the segment. A task may also begin or end within a document. The places of such a part are not known, so its
    segments are those of this judge alone.
    """

    def __init__(self) -> None:
        self._items: dict[Document, dict[Showing, tuple[int, int]]] = {}  # the first and the last
        self._local: dict[str, bool] = {}  # by campaign
        self._whole: dict[Document, int] = {}  # the last item minus the first

    def add(self, judgment: Judgment) -> None:
        """Add a judgment, whose segment is `document:item`."""
        document, item = _split(judgment)
        if item is not None:
            shown = self._items.setdefault((judgment.campaign, document), {})
            showing = judgment.judge, judgment.systems[0]
            first, last = shown.get(showing, (item, item))
            shown[showing] = min(first, item), max(last, item)

    def rename(self, judgment: Judgment) -> Judgment:
        """Return the judgment with the segment that it is about, after all have been added."""
        document, item = _split(judgment)
        if item is None or not self._is_local(judgment.campaign):
            return judgment
        shown = self._items[judgment.campaign, document]
        first, last = shown[judgment.judge, judgment.systems[0]]
        if (judgment.campaign, document) not in self._whole:
            self._whole[judgment.campaign, document] = max(end - begin for begin, end in shown.values())
        place = (
            str(item - first + 1)
            if last - first == self._whole[judgment.campaign, document]
            else f"{judgment.judge}:{item}"
        )
        return msgspec.structs.replace(judgment, segment=shorten_name(f"{document}:{place}"))

    def _is_local(self, campaign: str) -> bool:
        """Return whether most documents that were shown several times begin with different numbers."""
        if campaign not in self._local:
            several = [
                len({first for first, _ in shown.values()}) > 1
                for (name, _), shown in self._items.items()
                if name == campaign and len(shown) > 1
            ]
            self._local[campaign] = 2 * sum(several) > len(several)
        return self._local[campaign]


def _split(judgment: Judgment) -> tuple[str, int | None]:
    document, _, item = judgment.segment.rpartition(":")
    return document, int(item) if document and item.isdecimal() and len(item) < 10 else None
