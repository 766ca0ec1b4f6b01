"""Pages of long lists: a number of rows after a named one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from streams.errors import RecordError
from streams.wire.decoding import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Row = TypeVar("Row")


def page_of(
    rows: Sequence[Row], name: Callable[[Row], str], *, after: str | None, limit: int
) -> tuple[list[Row], str | None]:
    """Return the rows after the one that is named, and the name after which the next page begins, or None.

    >>> page_of(["a", "b", "c"], str, after="a", limit=1), page_of(["a", "b"], str, after=None, limit=2)
    ((['b'], 'b'), (['a', 'b'], None))
    """
    start = 0
    if after is not None:
        start = next((place for place, row in enumerate(rows, 1) if name(row) == after), 0)
        if not start:
            message = f"`after` is {quote(after)}, which is not in the list any more; begin without it"
            raise RecordError("invalid_value", message, field="after")
    page = list(rows[start : start + limit])
    return page, name(page[-1]) if page and start + limit < len(rows) else None
