"""What an event stream says: the forms of its events, and how they are put into words."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from streams.monitor.state.payloads import HistoryPoint  # noqa: TC001
from streams.wire.events import Leaderboard, Row, encode

RETRY = b"retry: 2000\n\n"
COMMENT = b": still here\n\n"


class RowsUpdate(Struct, frozen=True, kw_only=True):
    """What changed in a leaderboard: the order, if it did, the rows that did, and the systems that left."""

    sequence: int
    judgments: int
    order: list[str] | None
    rows: list[Row]
    gone: list[str]


class HistoryUpdate(Struct, frozen=True, kw_only=True):
    """One more sample of the history."""

    systems: list[str]
    sample: HistoryPoint


class RequestCount(Struct, frozen=True, kw_only=True):
    """How many match requests are out."""

    count: int


class RejectionCount(Struct, frozen=True, kw_only=True):
    """What was rejected so far."""

    total: int
    reasons: dict[str, int]


class StreamEvent(NamedTuple):
    """An event that is still to be put into words."""

    event: str
    data: object
    sequence: int | None = None


def message(event: str, data: object, sequence: int | None = None) -> bytes:
    r"""Put an event into words.

    >>> message("requests", {"count": 3}, 7)
    b'event: requests\nid: 7\ndata: {"count":3}\n\n'
    """
    number = b"" if sequence is None else b"id: %d\n" % sequence
    return b"event: %s\n%sdata: %s\n\n" % (event.encode(), number, encode(data))


def difference(before: Leaderboard, now: Leaderboard) -> RowsUpdate:
    """Say what changed from one leaderboard to the next."""
    known = {row.system: row for row in before.rows}
    order = [row.system for row in now.rows]
    return RowsUpdate(
        sequence=now.sequence,
        judgments=now.judgments,
        order=None if order == [row.system for row in before.rows] else order,
        rows=[row for row in now.rows if known.get(row.system) != row],
        gone=sorted(known.keys() - set(order)),
    )
