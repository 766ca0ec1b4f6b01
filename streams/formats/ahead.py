"""Read one item ahead in a thread, while the caller works on the item before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

_Item = TypeVar("_Item")


def read_ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """Yield the items of an iterator, which is advanced in a thread.

    >>> list(read_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1, thread_name_prefix="reader") as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
