"""The turns of a worker: what one fetch returns of all its partitions is rated, persisted and emitted together."""

from __future__ import annotations

from contextlib import suppress
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING

from streams.errors import BrokerUnavailable
from streams.kafka.records import record_block
from streams.worker.batches import PartitionBatch, Turn
from streams.worker.ownership import Abandoned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mode import Service

    from streams.kafka.consumers import Consumer, FetchedRecord
    from streams.kafka.partitions import Partition
    from streams.settings import Settings
    from streams.worker.assignment import Assignment
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.rater import Rater

    # Records of partitions, with the offset that was expected first.
    Taken = dict[PartitionOwnership, tuple[int, list[FetchedRecord]]]

# How long a fetch waits for records. A partition that opens meanwhile is read with the next one.
WAIT_MS = 400
OPENING_SECONDS = 0.05
# Records of a turn from which the next one is fetched while it is rated. After a smaller one that would only make the
# records wait in two places.
LARGE_TURN = 1000
AT_ONCE_SECONDS = 0.0005  # a fetch that takes longer has waited for the broker
MORE_MS = 3  # how long it waits for records that have come since they were last fetched


class Turns:
    """Fetches and rates turns. A batch that needs more than that is rated beside them, and holds up no other."""

    def __init__(
        self, service: Service, settings: Settings, consumer: Consumer, assignment: Assignment, rater: Rater
    ) -> None:
        self.in_hand: set[PartitionBatch] = set()
        self._service = service
        self._settings = settings
        self._consumer = consumer
        self._assignment = assignment
        self._rater = rater
        self._alone: dict[Partition, PartitionBatch] = {}  # the last batch that is rated beside the turns
        self._rest: Taken = {}  # of what was fetched, for the next turns

    async def fetch(self) -> Turn | None:
        """Return the records that have come, or None if there are none for a while.

        If there are more of a partition than its `most_records`, they are divided evenly into several turns.
        """
        rest = {ownership: found for ownership, found in self._rest.items() if ownership.is_open}
        taken = {ownership: found for ownership, found in rest.items() if ownership.partition not in self._alone}
        waiting = {
            partition: ownership
            for partition, ownership in self._assignment.owned.items()
            if ownership.is_open and partition not in self._alone and ownership not in rest
        }
        if not waiting and not taken:
            await self._service.sleep(OPENING_SECONDS)
            return None
        await self._fetch_more(waiting, taken)
        batches = []
        for ownership, (start, found) in taken.items():
            rest.pop(ownership, None)
            if ownership.is_open:  # it may have been revoked during a fetch
                size = ceil(len(found) / ceil(len(found) / ownership.most_records))
                part = found[:size]
                if size < len(found):
                    rest[ownership] = (part[-1].offset + 1, found[size:])
                written_at = part[0].timestamp / 1000 if part[0].timestamp > 0 else None
                batches.append(PartitionBatch(ownership, start, record_block(part), written_at))
        self._rest = rest
        self.in_hand.update(batches)
        return Turn(batches) if batches else None

    async def _fetch_more(self, waiting: Mapping[Partition, PartitionOwnership], taken: Taken) -> None:
        """Fetch records of the waiting partitions, and add them to those that were fetched before."""
        before = sum(min(len(found), ownership.most_records) for ownership, (_, found) in taken.items())
        most, began = self._settings.batch_records - before, monotonic()
        if not waiting or most <= 0:
            return
        wait = 0 if before else WAIT_MS
        count = _collect(taken, waiting, await self._consumer.fetch(*waiting, timeout_ms=wait, max_records=most))
        # What is there at once has waited since the last fetch, and the consumer reads a partition again when its
        # records were taken. So another fetch adds what has come meanwhile, or it would wait for one more turn.
        if not before and monotonic() - began < AT_ONCE_SECONDS and 0 < count < min(LARGE_TURN, most):
            with suppress(BrokerUnavailable):
                more = await self._consumer.fetch(*waiting, timeout_ms=MORE_MS, max_records=most - count)
                _collect(taken, waiting, more)

    async def rate(self, turn: Turn) -> None:
        """Rate a turn, for the rating agent. No error leaves."""
        try:
            await self._rate(turn)
        finally:
            turn.rated.set()

    async def _rate(self, turn: Turn) -> None:
        together = []
        for batch in turn.batches:
            if not batch.ownership.is_open:
                self._end(batch)
            elif batch.needs_check or batch.ownership.partition in self._alone:
                before = self._alone.get(batch.ownership.partition)
                self._alone[batch.ownership.partition] = batch
                self._service.add_future(self._rate_alone(batch, before))
            else:
                together.append(batch)
        if not together:
            return
        try:
            emission = await self._rater.rate_all(together, self._assignment.fail)
            emission.add_done_callback(lambda _: self._end(*together))
        except BaseException as error:
            self._end(*together)
            if not isinstance(error, Abandoned):
                raise

    async def _rate_alone(self, batch: PartitionBatch, before: PartitionBatch | None) -> None:
        """Rate a batch beside the turns: the broker is asked about it, and nobody else should wait for that."""
        partition = batch.ownership.partition
        try:
            if before is not None:
                await before.done.wait()
            if batch.ownership.is_open:
                await self._assignment.guard(batch.ownership, self._assignment.rate(batch))
        finally:
            if self._alone.get(partition) is batch:
                del self._alone[partition]
            self._end(batch)

    def _end(self, *batches: PartitionBatch) -> None:
        for batch in batches:
            self.in_hand.discard(batch)
            batch.done.set()


def _collect(
    taken: Taken,
    waiting: Mapping[Partition, PartitionOwnership],
    fetched: Mapping[Partition, Sequence[FetchedRecord]],
) -> int:
    """Add records that were fetched to those that were taken before, with the offset that was expected first.

    The offset that is expected next moves at once: what lies before the consumer's position and was not taken would be
    passed over as empty. Return the number of records.
    """
    count = 0
    for partition, records in fetched.items():
        ownership = waiting[partition]
        if records and ownership.is_open:  # it may have been revoked during the fetch
            taken.setdefault(ownership, (ownership.read_offset, []))[1].extend(records)
            ownership.read_offset = records[-1].offset + 1
            count += len(records)
    return count
