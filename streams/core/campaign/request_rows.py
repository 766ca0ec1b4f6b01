"""The outstanding match requests of a campaign as rows of a store, so that a batch writes only those that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.wire.events import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from streams.wire.events import MatchRequest


class RequestRows:
    """Which requests a store has. A row begins with a number, which keeps their order.

    >>> rows = RequestRows(stored=["a", "b"])
    >>> rows.drain({})
    ({}, ('a', 'b'))
    """

    def __init__(self, stored: Iterable[str] = ()) -> None:
        self._stored: dict[str, MatchRequest | None] = dict.fromkeys(stored)  # None: its number is not known
        self._next = 0

    def drain(
        self, outstanding: Mapping[str, MatchRequest], *, whole: bool = False
    ) -> tuple[dict[str, bytes], tuple[str, ...]]:
        """Return the rows that a store does not have as they are, and the ids of those that have ended.

        If the change is `whole`, the store has none.
        """
        ended = tuple(key for key in self._stored if key not in outstanding)
        had = {} if whole else self._stored
        rows = {}
        for key, request in outstanding.items():
            if had.get(key) is not request:
                rows[key] = b"%d %s" % (self._next, encode(request))
                self._next += 1
        self._stored = {**outstanding}
        return rows, ended


def order_rows(rows: Iterable[bytes]) -> list[bytes]:
    """Return the requests that rows hold, encoded and in their order.

    >>> order_rows([b'10 {"id":"b"}', b'9 {"id":"a"}'])
    [b'{"id":"a"}', b'{"id":"b"}']
    """
    parts = (row.partition(b" ") for row in rows)
    return [request for _, _, request in sorted((len(number), number, request) for number, _, request in parts)]
