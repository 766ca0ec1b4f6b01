"""Items are read ahead in a thread, in order, and not too many of them."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import pytest

from streams.formats.ahead import begin, read_ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = 30  # until a test fails

ways = pytest.mark.parametrize("way", [begin, read_ahead])


def failing() -> Iterator[int]:
    yield 1
    raise ValueError("line 2")


@ways
def test_an_error_comes_after_the_items_before_it(way: Callable[[Iterator[int]], Iterator[int]]) -> None:
    items = way(failing())
    assert next(items) == 1
    with pytest.raises(ValueError, match="line 2"):
        next(items)


@ways
def test_an_error_at_the_first_item_is_raised_to_who_asks_for_it(way: Callable[[Iterator[int]], Iterator[int]]) -> None:
    items = failing()
    next(items)
    with pytest.raises(ValueError, match="line 2"):
        list(way(items))


def test_the_first_item_is_read_before_it_is_asked_for() -> None:
    is_read = Event()

    def items() -> Iterator[int]:
        is_read.set()
        yield 1

    begun = begin(items())
    assert is_read.wait(SECONDS)
    assert list(begun) == [1]


def test_items_are_read_while_the_caller_works_but_only_a_few() -> None:
    read: list[int] = []
    are_read = Event()

    def items() -> Iterator[int]:
        for k in range(100):
            read.append(k)
            if k == 3:
                are_read.set()
            yield k

    ahead = read_ahead(items())
    assert next(ahead) == 0
    assert are_read.wait(SECONDS)
    ahead.close()
    assert len(read) < 10
