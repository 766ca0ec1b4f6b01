"""A log is known again by its offsets and its last record; another log in its place is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from streams.errors import LogGap, WrongLog
from streams.kafka.partitions import Partition
from streams.pipeline.record import Record, record_fingerprint
from streams.worker.log_identity import LONG_TRANSACTION_SECONDS, MAX_SHORT_ENDS, LogIdentity

PARTITION = Partition("judgments.v1", 0)


@dataclass
class FakeInspector:
    """A log that holds only the offsets from `begin` to `end`, and may show a record."""

    begin: int
    end: int
    record: Record | None = None
    passes_over: int = 0  # offsets without a record
    sought: list[int] = field(default_factory=list)

    async def beginning_offsets(self, partitions: Sequence[Partition]) -> dict[Partition, int]:
        return dict.fromkeys(partitions, self.begin)

    async def end_offsets(self, partitions: Sequence[Partition]) -> dict[Partition, int]:
        return dict.fromkeys(partitions, self.end)

    async def find_record(self, partition: Partition, offset: int, *, end: int) -> tuple[Record | None, int]:
        self.sought.append(offset)
        return (None, offset + self.passes_over) if self.record is None else (self.record, offset + 1)


def confirmed(inspector: FakeInspector, *, at: int, fingerprint: str = "", times: int = 1) -> list[bool]:
    """Ask several times whether a log is the one of a state that is at an offset."""

    async def ask() -> list[bool]:
        identity = LogIdentity(PARTITION)
        kafka = cast("Any", inspector)
        return [await identity.is_confirmed(kafka, offset=at, fingerprint=fingerprint) for _ in range(times)]

    return asyncio.run(ask())


@pytest.mark.parametrize("at", [0, 3])
def test_a_log_that_begins_after_the_state_has_a_gap(at: int) -> None:
    with pytest.raises(LogGap, match=f"judgestream gaps --accept judgments.v1/0:{at}-5") as gap:
        confirmed(FakeInspector(5, 9), at=at)
    assert (gap.value.start, gap.value.end) == (at, 5)
    assert confirmed(FakeInspector(5, 9), at=5) == [True], "all that is gone was read"


def test_a_log_that_ends_before_the_state_is_asked_again_and_then_refused() -> None:
    """A broker that has just started may not report all that it has."""
    assert confirmed(FakeInspector(0, 9), at=12, times=MAX_SHORT_ENDS) == [False] * MAX_SHORT_ENDS
    with pytest.raises(WrongLog, match="it ends at offset 9, and the state at 12"):
        confirmed(FakeInspector(0, 9), at=12, times=MAX_SHORT_ENDS + 1)


def test_the_last_applied_record_must_be_in_its_place() -> None:
    last, other = Record(8, b"c", b"{}"), Record(8, b"c", b"[]")
    fingerprint = record_fingerprint(last)
    log = FakeInspector(0, 9, last)
    assert confirmed(log, at=9, fingerprint=fingerprint) == [True]
    assert log.sought == [8]
    assert confirmed(FakeInspector(0, 9), at=9, fingerprint=fingerprint) == [False], "the broker shows nothing now"
    with pytest.raises(WrongLog, match="it holds another record at offset 8"):
        confirmed(FakeInspector(0, 9, other), at=9, fingerprint=fingerprint)


def test_a_last_record_that_was_aborted_is_passed_over() -> None:
    """Earlier versions applied aborted records."""
    fingerprint = record_fingerprint(Record(8, b"c", b"{}"))
    assert confirmed(FakeInspector(0, 10, passes_over=2), at=9, fingerprint=fingerprint) == [True]


def test_a_last_record_that_is_gone_from_the_log_is_not_looked_for() -> None:
    fingerprint = record_fingerprint(Record(8, b"c", b"{}"))
    assert confirmed(FakeInspector(9, 12), at=9, fingerprint=fingerprint) == [True]


def test_a_transaction_that_stays_open_is_named_and_those_that_end_are_not() -> None:
    log, later = LogIdentity(PARTITION), LONG_TRANSACTION_SECONDS
    assert log.find_open_transaction(end=9, written=None, now=0.0) is None, "nothing was fetched yet"
    assert log.find_open_transaction(end=9, written=12, now=0.0) is None, "it may end soon"
    assert log.find_open_transaction(end=12, written=15, now=later) is None, "it has ended, and this is the next one"
    named = log.find_open_transaction(end=12, written=15, now=2 * later)
    assert named is not None
    assert "judgments.v1/0 waits at offset 12 for a transaction that is open" in named
    assert log.find_open_transaction(end=15, written=15, now=2 * later) is None
    assert log.find_open_transaction(end=15, written=16, now=4 * later) is None, "the wait begins anew"
