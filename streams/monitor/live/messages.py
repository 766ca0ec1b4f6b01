"""The events of an event stream, and their encoding as server-sent events."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from streams.monitor.state.findings import Finding  # noqa: TC001
from streams.monitor.state.payloads import HistoryPoint  # noqa: TC001
from streams.wire.events import Leaderboard, Row, encode

RETRY = b"retry: 2000\n\n"
COMMENT = b": still here\n\n"


class RowsUpdate(Struct, frozen=True, kw_only=True):
    """The changes of a leaderboard: changed rows, removed systems, and the order if it changed.

    `board` is the leaderboard without its rows. It is null if only its counts of records and judgments have changed.
    """

    sequence: int
    judgments: int
    order: list[str] | None
    rows: list[Row]
    gone: list[str]
    board: Leaderboard | None = None


class HistoryUpdate(Struct, frozen=True, kw_only=True):
    """A new sample of the history."""

    systems: list[str]
    sample: HistoryPoint


class GoneCampaign(Struct, frozen=True, kw_only=True):
    """A campaign that was deleted."""

    campaign: str


class RequestCount(Struct, frozen=True, kw_only=True):
    """The number of outstanding match requests."""

    count: int


class RejectionCount(Struct, frozen=True, kw_only=True):
    """The number of rejections, in total and by reason."""

    total: int
    reasons: dict[str, int]


class FindingsUpdate(Struct, frozen=True, kw_only=True):
    """What an operator should know now about the servers and the workers."""

    problems: list[Finding]
    notes: list[Finding]


class StreamEvent(NamedTuple):
    """An event before it is encoded."""

    event: str
    data: object
    sequence: int | None = None
    campaign: str | None = None  # if only those who may read it get the event

    def encode(self) -> bytes:
        r"""Return the event as a server-sent event.

        >>> StreamEvent("requests", {"count": 3}, 7).encode()
        b'event: requests\nid: 7\ndata: {"count":3}\n\n'
        """
        number = b"" if self.sequence is None else b"id: %d\n" % self.sequence
        return b"event: %s\n%sdata: %s\n\n" % (self.event.encode(), number, encode(self.data))


def rows_update(before: Leaderboard, now: Leaderboard) -> RowsUpdate:
    """Return the changes from one leaderboard to the next."""
    known = {row.system: row for row in before.rows}
    order = [row.system for row in now.rows]
    counts = {"sequence": now.sequence, "offset": now.offset, "judgments": now.judgments}
    about = replace(now, rows=())
    return RowsUpdate(
        sequence=now.sequence,
        judgments=now.judgments,
        order=None if order == [row.system for row in before.rows] else order,
        rows=[row for row in now.rows if known.get(row.system) != row],
        gone=sorted(known.keys() - set(order)),
        board=None if about == replace(before, rows=(), **counts) else about,
    )
