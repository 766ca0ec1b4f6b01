"""Read items ahead in a thread, while the caller works on the items before."""

from __future__ import annotations

import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from concurrent.futures import Future

_Item = TypeVar("_Item")
_AHEAD = 4  # items: enough to go on while modules and kernels are loaded
_SWITCH_SECONDS = 0.0005  # after which a thread that imports modules lets the reader go on


def read_ahead(items: Iterator[_Item]) -> Generator[_Item, None, None]:
    """Yield the items of an iterator, which is advanced in a thread.

    >>> list(read_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="reader")
    try:
        coming = deque(thread.submit(next, items, None) for _ in range(_AHEAD))
        while (item := coming.popleft().result()) is not None:
            coming.append(thread.submit(next, items, None))
            yield item
    finally:
        thread.shutdown(cancel_futures=True)


def begin(items: Iterator[_Item]) -> Iterator[_Item]:
    """Return the items of an iterator. The first one is read in a thread, while the caller imports modules.

    >>> list(begin(iter("abc")))
    ['a', 'b', 'c']
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    thread = ThreadPoolExecutor(1, thread_name_prefix="beginning")
    first = thread.submit(next, items, None)
    thread.shutdown(wait=False)
    return _go_on(first, items)


def _go_on(first: Future[_Item | None], items: Iterator[_Item]) -> Iterator[_Item]:
    item = first.result()
    if item is not None:
        yield item
        yield from items
