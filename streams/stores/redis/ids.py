"""The list of ids that a campaign has seen. An element holds all ids of a batch, so that Redis has few of them.

It begins with a byte that no text begins with, and the number of its ids. In earlier layouts an element is one id.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from streams.wire.id_text import IdText

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MARK = b"\xff"


def encode_ids(ids: IdText) -> tuple[int, bytes]:
    """Return the number of ids, and the element that holds them."""
    return ids.count, b"%s%d\n%s" % (MARK, ids.count, ids.text)


def decode_ids(elements: Iterable[bytes], *, kept: bytes | None) -> tuple[str, ...]:
    """Return the ids of a list, at most the last `kept` ones: the first element may have older ids.

    >>> decode_ids([b"an earlier id", encode_ids(IdText.of(["a", "b"]))[1]], kept=b"2")
    ('a', 'b')
    """
    ids = tuple(chain.from_iterable(map(_decode, elements)))
    return ids if kept is None else ids[-int(kept) :]


def has_id(client: Any, key: str, wanted: str, *, searched: int) -> bool:
    """Return whether an id is among about the last ids of a list. It is read from the end, in parts that double."""
    last, size = -1, 1
    while searched > 0:
        elements: Sequence[bytes] = client.lrange(key, last - size + 1, last)
        if not elements:
            return False
        ids = decode_ids(elements, kept=None)
        if wanted in ids:
            return True
        last, size, searched = last - size, 2 * size, searched - len(ids)
    return False


def _decode(element: bytes) -> tuple[str, ...]:
    if not element.startswith(MARK):
        return (element.decode(),)
    count, _, text = element[1:].partition(b"\n")
    return IdText(text, int(count)).ids()
