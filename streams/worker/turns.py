"""The turns of a worker: what one fetch returns of all its partitions is rated, persisted and emitted together."""

from __future__ import annotations

from math import ceil, inf
from time import monotonic
from typing import TYPE_CHECKING

from streams.kafka.group_consumer import message_block, sent_at
from streams.worker.batches import PartitionBatch, Turn
from streams.worker.ownership import Abandoned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mode import Service

    from streams.kafka.group_consumer import GroupConsumer, Message
    from streams.kafka.partitions import Partition
    from streams.settings import Settings
    from streams.worker.assignment import Assignment
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.rater import Rater

    # Records of partitions, with the offset that was expected first.
    Taken = dict[PartitionOwnership, tuple[int, list[Message]]]

# How long a fetch waits for records. A partition that opens meanwhile is read with the next one.
WAIT_SECONDS = 0.4  # less than ERROR_PAUSE_MS
OPENING_SECONDS = 0.05
# Records of a turn from which the next one is fetched while it is rated. After a smaller one that would only make the
# records wait in two places.
LARGE_TURN = 1000


class Turns:
    """Fetches and rates turns. A batch that needs more than that is rated beside them, and holds up no other."""

    def __init__(
        self, service: Service, settings: Settings, consumer: GroupConsumer, assignment: Assignment, rater: Rater
    ) -> None:
        self.in_hand: set[PartitionBatch] = set()
        self._service = service
        self._settings = settings
        self._consumer = consumer
        self._assignment = assignment
        self._rater = rater
        self._alone: dict[Partition, PartitionBatch] = {}  # the last batch that is rated beside the turns
        self._rest: Taken = {}  # of what was fetched, for the next turns
        self._full: set[PartitionOwnership] = set()  # with so large a rest that no more is fetched of them
        # When records last came. A topic that is created anew is silent for longer than a fetch waits, or nothing is
        # fetched meanwhile. If it soon has more records than the old one, only its id tells the two apart.
        self._fetched_at = -inf

    async def fetch(self) -> Turn | None:
        """Return the records that have come, or None if there are none for a while.

        If there are more of a partition than its `most_records`, they are divided evenly into several turns.
        """
        rest = {ownership: found for ownership, found in self._rest.items() if ownership.is_open}
        taken = {ownership: found for ownership, found in rest.items() if ownership.partition not in self._alone}
        self._mark_full(rest)
        waiting = {
            partition: ownership
            for partition, ownership in self._assignment.owned.items()
            if ownership.is_open and partition not in self._alone and ownership not in self._full
        }
        if not waiting and not taken:
            await self._consumer.fetch({}, seconds=OPENING_SECONDS, most=1)  # the group is answered in a fetch
            return None
        await self._fetch_more(waiting, taken)
        batches = []
        for ownership, (start, found) in taken.items():
            rest.pop(ownership, None)
            if ownership.is_open:  # it may have been revoked during a fetch
                size = ceil(len(found) / ceil(len(found) / ownership.most_records))
                part = found[:size]
                if size < len(found):
                    rest[ownership] = (part[-1].offset() + 1, found[size:])
                batches.append(PartitionBatch(ownership, start, message_block(part), sent_at(part[0])))
        self._rest = rest
        self.in_hand.update(batches)
        return Turn(batches) if batches else None

    async def _fetch_more(self, waiting: Mapping[Partition, PartitionOwnership], taken: Taken) -> None:
        """Fetch records of the waiting partitions, and add them to those that were fetched before."""
        before = sum(min(len(found), ownership.most_records) for ownership, (_, found) in taken.items())
        most = self._settings.batch_records - before
        if not waiting or most <= 0:
            return
        fetched = await self._consumer.fetch(
            {partition: ownership.read_offset for partition, ownership in waiting.items()},
            seconds=0.0 if before else WAIT_SECONDS,
            most=most,
            # Turns that come back to back are cheaper if each has some records.
            pause=0.0 if before else self._settings.batch_seconds,
        )
        if fetched:
            last, self._fetched_at = self._fetched_at, monotonic()
            if self._fetched_at - last > WAIT_SECONDS:
                await self._assignment.check_topic(next(iter(fetched)).topic)
        for partition, records in fetched.items():
            ownership = waiting[partition]
            if not ownership.is_open:  # it may have been revoked during the fetch
                continue
            start, rest = taken.get(ownership, (ownership.read_offset, []))
            if rest and records[0].offset() != ownership.read_offset:
                continue  # it is fetched again, and is checked after the rest
            taken[ownership] = (start, rest + records)
            # It moves at once: what lies before the consumer's position and was not taken would look empty.
            ownership.read_offset = records[-1].offset() + 1

    def _mark_full(self, rest: Taken) -> None:
        """If the rests are together larger than two turns, fetch no more of their partitions until a batch takes one.

        To leave out a partition has a price: librdkafka drops what it has read ahead, and is slow to read it again.
        """
        too_many = sum(len(found) for _, found in rest.values()) > 2 * self._settings.batch_records
        self._full = {
            ownership
            for ownership, (_, found) in rest.items()
            if len(found) > ownership.most_records and (too_many or ownership in self._full)
        }

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
