"""The turns of a worker: what one fetch returns of all its partitions is rated, persisted and emitted together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.kafka.records import record_block
from streams.worker.batches import PartitionBatch, Turn
from streams.worker.ownership import Abandoned

if TYPE_CHECKING:
    from mode import Service

    from streams.kafka.consumers import Consumer
    from streams.kafka.partitions import Partition
    from streams.settings import Settings
    from streams.worker.assignment import Assignment
    from streams.worker.rater import Rater

# How long a fetch waits for records. A partition that opens meanwhile is read with the next one.
WAIT_MS = 400
OPENING_SECONDS = 0.05


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

    async def fetch(self) -> Turn | None:
        """Return the records that have come, or None if there are none for a while."""
        waiting = {
            partition: ownership
            for partition, ownership in self._assignment.owned.items()
            if ownership.is_open and partition not in self._alone
        }
        if not waiting:
            await self._service.sleep(OPENING_SECONDS)
            return None
        fetched = await self._consumer.fetch(*waiting, timeout_ms=WAIT_MS, max_records=self._settings.batch_records)
        batches = []
        for partition, found in fetched.items():
            ownership = waiting[partition]
            if not found or not ownership.is_open:  # it may have been revoked during the fetch
                continue
            written_at = found[0].timestamp / 1000 if found[0].timestamp > 0 else None
            batches.append(PartitionBatch(ownership, ownership.read_offset, record_block(found), written_at))
            ownership.read_offset = found[-1].offset + 1
        self.in_hand.update(batches)
        return Turn(batches) if batches else None

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
