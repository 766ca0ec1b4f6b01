"""The leaderboards of all partitions of a worker on their way: drafted in one turn, settled, and finished in another.

`draft_all` and `finish_all` run in the rater's thread. What happens to one partition holds up no other: its error is
kept with it. If the store did not answer, a call may be repeated.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from streams.errors import StoreUnavailable
from streams.pipeline.partition_boards import MOST_COPIED, MOST_DRAFTS
from streams.worker.batches import LATE_SECONDS, TurnOwnerships, check_all, confirm_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streams.metrics import WorkerMetrics
    from streams.pipeline.leaderboards import DraftedBoard, FinishedBoard
    from streams.pipeline.processor import Processor
    from streams.wire.outputs import Output
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.rater import Fail, Rater


class Snapshots:
    """Emits leaderboards. They are settled beside the rating of batches, which may take seconds.

    Those of all partitions are drafted in one turn and emitted in another: with turns of its own, each partition would
    wait for as many batches.
    """

    def __init__(self, rater: Rater, metrics: WorkerMetrics) -> None:
        self._rater = rater
        self._metrics = metrics

    async def emit(self, ownerships: Sequence[PartitionOwnership], fail: Fail) -> None:
        """Emit the leaderboards that changed, and remove idle campaigns from memory.

        `fail` is called with what went wrong in a partition.
        """
        parts = [PartitionSnapshot(ownership) for ownership in ownerships]
        try:
            while not all(part.is_done for part in parts):
                await self._emit(parts)
        except asyncio.CancelledError:
            for ownership in ownerships:
                ownership.end()
            raise
        except Exception as error:  # noqa: BLE001 - the guards decide what it means
            for part in parts:
                part.error = part.error or error
        for part in parts:
            if part.error is not None:
                await fail(part.ownership, part.error)

    async def _emit(self, parts: Sequence[PartitionSnapshot]) -> None:
        """Emit the leaderboards that are drafted at once."""
        await self._in_turn(parts, draft_all)
        if any(part.drafts for part in parts):
            self._metrics.snapshot_seconds.observe(await self._rater.run_beside(partial(settle_all, parts)))
            await self._in_turn(parts, finish_all)

    async def _in_turn(
        self, parts: Sequence[PartitionSnapshot], work: Callable[[Sequence[PartitionSnapshot], float], None]
    ) -> None:
        """Do work in a turn, and emit the outputs of all partitions, as the rater does for one of them."""
        async with self._rater.turn:
            since = monotonic()
            await self._rater.run(None, partial(work, parts, since))
            sending = [part for part in parts if part.error is None and part.outputs]
            if sending and monotonic() - since > LATE_SECONDS:
                await self._rater.run(None, partial(check_all, sending))
                sending = [part for part in sending if part.error is None]
            if sending:
                try:
                    outputs = [output for part in sending for output in part.outputs]
                    await self._rater.emit(outputs, TurnOwnerships.of(sending))
                finally:  # the broker may have some of them
                    await self._rater.run(None, partial(confirm_all, sending))
            for part in parts:
                part.outputs = ()


@dataclass(eq=False)
class PartitionSnapshot:
    """The leaderboards of one partition. After an error nothing more is done with them."""

    ownership: PartitionOwnership
    processor: Processor = field(init=False)
    names: list[str] | None = None  # campaigns whose leaderboards are to be drafted; None: they are not known yet
    drafts: list[DraftedBoard] = field(default_factory=list)
    boards: list[FinishedBoard] = field(default_factory=list)
    outputs: tuple[Output, ...] = ()  # that are to be emitted
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.processor = self.ownership.processor

    @property
    def is_done(self) -> bool:
        """Whether there is nothing more to draft."""
        return self.error is not None or self.names == []


def draft_all(parts: Sequence[PartitionSnapshot], now: float) -> None:
    """Draft the leaderboards that changed, as many as may be settled at once. Where none did, remove idle campaigns."""

    def draft(part: PartitionSnapshot) -> None:
        if part.names is None:
            part.names = part.processor.boards.find_due(now)
        drafted = [each for other in parts for each in other.drafts]
        if part.names and len(drafted) < MOST_DRAFTS and sum(each.size for each in drafted) < MOST_COPIED:
            outputs, part.drafts, part.names = part.processor.boards.draft(part.names)
            part.outputs = tuple(outputs)
        if part.is_done and not part.drafts:
            part.outputs = (*part.outputs, *part.processor.rest(now))

    _do_all([part for part in parts if not part.drafts], draft)


def settle_all(parts: Sequence[PartitionSnapshot]) -> float:
    """Settle the drafts, in any thread: they have copies of all that they need. Return the seconds that it took."""
    for part in parts:
        part.boards, part.drafts = [draft.settle() for draft in part.drafts], []
    return sum(board.seconds for part in parts for board in part.boards)


def finish_all(parts: Sequence[PartitionSnapshot], now: float) -> None:
    """Make outputs of the leaderboards that were settled. When all are, remove idle campaigns from memory."""

    def finish(part: PartitionSnapshot) -> None:
        if not part.boards:
            return
        part.outputs = (*part.outputs, *part.processor.boards.finish(part.boards, now=now))
        part.boards = []
        if part.is_done:
            part.outputs = (*part.outputs, *part.processor.rest(now))

    _do_all(parts, finish)


def _do_all(parts: Sequence[PartitionSnapshot], work: Callable[[PartitionSnapshot], None]) -> None:
    away: StoreUnavailable | None = None
    for part in parts:
        if part.error is not None:
            continue
        try:
            part.ownership.check_not_over()
            work(part)
        except StoreUnavailable as error:
            away = error
        except Exception as error:  # noqa: BLE001 - the guard of the partition decides what it means
            part.error = error
    if away is not None:
        raise away
