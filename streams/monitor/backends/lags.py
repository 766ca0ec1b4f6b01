"""The lag of each partition: the ends of the log compared with the offsets in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streams.monitor.backends.base import Lag
from streams.stores.gaps import describe_gap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streams.stores import Store


class LogEnd(NamedTuple):
    """Where a partition ends, and up to where it can be read. A transaction that is open lies between the two."""

    end: int
    readable: int


def read_lags(store: Store, topic: str, ends: Mapping[int, LogEnd]) -> list[Lag]:
    """Return the lag of each partition of the log."""
    return [_read_lag(store, f"{topic}/{number}", number, end) for number, end in sorted(ends.items())]


def _read_lag(store: Store, name: str, number: int, log: LogEnd) -> Lag:
    head = store.read_partition(name)
    applied = int(head.get("offset", 0))
    gaps = [gap for gap in store.read_gaps(name) if gap.accepted is None]
    return Lag(
        partition=number,
        end=max(log.end, applied),
        readable=max(log.readable, applied),
        applied=applied,
        lag=max(0, log.end - applied),
        missing=int(head.get("missing", 0)),
        forwarded=int(head.get("forwarded", 0)),
        stopped=describe_gap(name, gaps[0].start, gaps[0].end) if gaps else None,
    )
