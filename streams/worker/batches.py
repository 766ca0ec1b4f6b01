"""The batches of a turn: what is fetched of several partitions at once, and the way of each through the processor.

The functions run in the rater's thread. What happens to one batch holds up no other: its error is kept with it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Protocol

from streams.errors import Conflict, StoreUnavailable
from streams.worker.ownership import Abandoned, Phase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streams.errors import Fenced
    from streams.pipeline.processor import Processor
    from streams.pipeline.record import RecordBlock
    from streams.stores.commit import Commit
    from streams.wire.outputs import Output
    from streams.worker.ownership import PartitionOwnership


LATE_SECONDS = 1.0  # after which a worker asks whether it is still the owner; a session of the group lasts longer


@dataclass(eq=False)
class PartitionBatch:
    """Records of one partition on their way to the rating agent. `start` is the offset that was expected next."""

    ownership: PartitionOwnership
    start: int
    records: RecordBlock
    written_at: float | None = None  # timestamp of the first record
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def hole(self) -> int | None:
        """The first offset from `start` on without a record, or None if there is no such offset before the last."""
        offsets = self.records.offsets
        if offsets[-1] - self.start == len(offsets) - 1:
            return None
        return next(offset for offset, found in enumerate(offsets, self.start) if found != offset)

    @property
    def needs_check(self) -> bool:
        """Return whether the broker has to be asked about the batch: offsets are missing, or were there before."""
        return self.hole is not None or self.records.offsets[0] < self.start


@dataclass(frozen=True)
class Turn:
    """The batches that one fetch returned, of one partition each."""

    batches: Sequence[PartitionBatch]
    rated: asyncio.Event = field(default_factory=asyncio.Event)  # set when the next turn may be rated

    @property
    def size(self) -> int:
        """The number of records."""
        return sum(len(batch.records.offsets) for batch in self.batches)

    @property
    def is_measured(self) -> bool:
        """Whether earlier batches of all its partitions have told how many rows their records write."""
        return all(batch.ownership.is_measured for batch in self.batches)


@dataclass(eq=False)
class RatedBatch:
    """A batch of a turn, with what has become of it so far. After an error nothing more is done with it."""

    batch: PartitionBatch
    processor: Processor = field(init=False)
    commit: Commit | None = None
    seconds: float = 0.0  # in which it was rated
    is_persisted: bool = False
    boards: tuple[Output, ...] = ()  # of campaigns that leave memory
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.processor = self.batch.ownership.processor

    @property
    def ownership(self) -> PartitionOwnership:
        """The ownership of the partition."""
        return self.batch.ownership

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What is to be emitted."""
        return () if self.commit is None else (*self.commit.outputs, *self.boards)


class TurnPart(Protocol):
    """What a turn does in one partition."""

    processor: Processor
    error: Exception | None

    @property
    def ownership(self) -> PartitionOwnership:
        """The ownership of the partition."""

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What is to be emitted."""


@dataclass(frozen=True)
class TurnOwnerships:
    """The ownerships of the partitions of a turn."""

    ownerships: Sequence[PartitionOwnership]

    @classmethod
    def of(cls, parts: Sequence[TurnPart]) -> TurnOwnerships:
        """Return the ownerships of the parts of a turn."""
        return cls([part.ownership for part in parts])

    def check_not_over(self) -> None:
        """Raise Abandoned if nothing more may be written to any of the partitions."""
        if all(each.phase is Phase.OVER for each in self.ownerships):
            raise Abandoned


def prepare_all(rated: Sequence[RatedBatch]) -> None:
    """Rate batches. If the store did not answer, the call may be repeated."""
    away: StoreUnavailable | None = None
    for each in rated:
        if each.error is not None or each.commit is not None:
            continue
        started = perf_counter()
        try:
            each.batch.ownership.check_not_over()
            if each.processor.next_offset != each.batch.start:
                expected = f"offset {each.processor.next_offset} is next"
                raise Conflict(f"the batch begins at offset {each.batch.start}, but {expected}")
            each.commit = each.processor.prepare(each.batch.records)
            each.seconds = perf_counter() - started
        except StoreUnavailable as error:
            away = error
        except Exception as error:  # noqa: BLE001 - the guard of the partition decides what it means
            each.error = error
    if away is not None:
        raise away


def rate_and_persist(rated: Sequence[RatedBatch]) -> tuple[float, float]:
    """Rate and write batches. Return when the writing began, on the monotonic clock, and the seconds that it took."""
    prepare_all(rated)
    since, started = monotonic(), perf_counter()
    persist_all(rated)
    return since, perf_counter() - started


def persist_all(rated: Sequence[RatedBatch]) -> None:
    """Write batches that are rated, in one call. If the store did not answer, the call may be repeated."""
    waiting: list[tuple[RatedBatch, Commit]] = []
    for each in rated:
        if each.commit is None or each.error is not None or each.is_persisted:
            continue
        try:
            each.batch.ownership.check_not_over()
            waiting.append((each, each.commit))
        except Exception as error:  # noqa: BLE001 - as above
            each.error = error
    if not waiting:
        return
    store = waiting[0][0].processor.store
    errors = store.persist_all([(each.processor.lease, commit) for each, commit in waiting])
    for (each, commit), refused in zip(waiting, errors, strict=True):
        each.error = refused
        if refused is None:
            each.is_persisted, each.processor.persisted_offset = True, commit.after
    for each, _ in waiting:
        if each.is_persisted:
            try:
                each.boards = each.processor.rest(monotonic())
            except Exception as error:  # noqa: BLE001 - as above
                each.error = error


def check_all(parts: Sequence[TurnPart]) -> None:
    """Keep the error of each part whose partition has a new owner, which emits what this worker has not emitted."""
    for each, error in _find_owners(parts):
        each.error = each.error or error


def confirm_all(parts: Sequence[TurnPart]) -> None:
    """Keep the error of each part whose partition had a new owner before the outputs were emitted, and report it.

    Newer outputs may come before them in their topics. If the store did not answer, the call may be repeated.
    """
    for each, error in _find_owners(parts):
        if error is not None:
            each.processor.store.report_late(each.processor.lease.partition)
            each.error = error


def _find_owners(parts: Sequence[TurnPart]) -> Iterator[tuple[TurnPart, Fenced | None]]:
    """Yield each part, with the error if its partition has a new owner. Each lease is checked once."""
    leases = list({each.processor.lease: each for each in parts})
    errors = dict(zip(leases, parts[0].processor.store.check_leases(leases), strict=True))
    for each in parts:
        yield each, errors[each.processor.lease]
