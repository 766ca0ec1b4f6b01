"""The source: it reads the log with a consumer of its own, and hands what it has read, a turn, to the rating agent.

The commit order, for each partition (steps 1 to 3 are in `assignment.py`, 4 and 5 in `rater.py`):

1. On assignment the worker gets a new epoch from the store. The former owner can't write any more.
2. The state is loaded, and what may not have been emitted is emitted again.
3. The log is checked: the last applied record must be in its place. The consumer seeks to the offset that the store
   holds: the store decides, not the group's committed offset.
4. A batch is rated and persisted atomically together with its offset, in one call with the other batches of its turn.
5. Its outputs are emitted. The next turn is read and rated meanwhile, and persisted when the broker has them.
6. Every second the persisted offset is committed to Kafka, for tools that show the lag.

Only partitions that move to another worker stop in a rebalance.
"""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING

from mode import Service

from streams.errors import BrokerUnavailable
from streams.kafka.connection import answering
from streams.kafka.group_consumer import GroupConsumer
from streams.kafka.inspecting import LogInspector
from streams.metrics import PartitionProgress
from streams.wire import topics
from streams.worker.assignment import Assignment
from streams.worker.late_outputs import repeat_after_late
from streams.worker.snapshot_schedule import SnapshotSchedule
from streams.worker.snapshots import Snapshots
from streams.worker.turns import LARGE_TURN, Turns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Iterator, Sequence

    from faust.types import ChannelT

    from streams.kafka.partitions import Partition
    from streams.metrics import WorkerMetrics
    from streams.pipeline.processor import Processor
    from streams.settings import Settings
    from streams.stores import Store
    from streams.wire.quarantine import Quarantine
    from streams.worker.batches import Turn
    from streams.worker.ownership import PartitionOwnership
    from streams.worker.rater import Rater
    from streams.worker.status import WorkerStatus

log = logging.getLogger(__name__)

COMMIT_SECONDS = 1.0
PROBE_SECONDS = 5.0
STATUS_SECONDS = 0.1  # at least, between two updates of the status
REQUEST_SECONDS = 0.2  # at least, between two looks for campaigns with many systems that await match requests
BEHIND_SECONDS = 30.0  # the same where a backlog is rated
# How long a batch in hand may take to end when its partition is revoked or the worker stops.
GRACE_SECONDS = 4.0


class BatchSource(Service):
    """Owns the consumer of the log, and is the listener that the group calls."""

    mundane_level = "debug"

    def __init__(
        self,
        settings: Settings,
        store: Store,
        rater: Rater,
        channel: ChannelT[Turn],
        status: WorkerStatus,
        metrics: WorkerMetrics,
    ) -> None:
        super().__init__()
        self._settings = settings
        self._rater = rater
        self._channel = channel
        self._status = status
        self._metrics = metrics
        self._consumer = GroupConsumer(settings)
        self._inspector = LogInspector(settings)
        self._assignment = Assignment(self, settings, store, self._inspector, rater, status, metrics)
        self._snapshots = Snapshots(rater, metrics)
        self._schedule = SnapshotSchedule(settings.snapshot_seconds)
        self._turns = Turns(self, settings, self._consumer, self._assignment, rater)
        self._looked_at = 0.0  # when match requests were last looked for, on the monotonic clock
        self._is_choosing = False

    async def on_start(self) -> None:
        """Join the group."""
        await self._inspector.start()
        await self._consumer.join(topics.JUDGMENTS.within(self._settings.namespace), self)

    async def on_stop(self) -> None:
        """Wait for the batch in hand, then leave the group."""
        await self.on_revoked(list(self._assignment.owned))
        await self._consumer.stop()
        await self._inspector.stop()
        self._rater.close()

    def on_assigned(self, partitions: Sequence[Partition]) -> None:
        """Open partitions that the group has assigned to this worker. It keeps those that it has."""
        self._status.joined = True
        if partitions:
            self._metrics.rebalances.inc()
        log.info("the group assigns %d more partitions to this worker", len(partitions))
        if not self.should_stop:  # a worker that stops must not begin anew before it has left the group
            self._assignment.open(partitions)

    async def on_revoked(self, partitions: Sequence[Partition]) -> None:
        """Release partitions. Their batch in hand may end, and those that wait after it stay in the log."""
        if partitions:
            self._metrics.rebalances.inc()
        opening = self._assignment.close(partitions)
        # A stop releases all partitions, and then the consumer revokes them: what was waited for is not owned any more.
        ending = [ownership for each in partitions if (ownership := self._assignment.owned.get(each)) is not None]
        in_hand = [batch.done.wait() for batch in self._turns.in_hand if batch.ownership in ending]
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await asyncio.gather(*in_hand, *opening)
        except TimeoutError:
            log.warning("the batch in hand did not end in %.0f s; it will be read again", GRACE_SECONDS)
        self._commit(partitions)
        self._assignment.end(partitions)
        for partition in partitions:
            self._status.waiting.pop(str(partition), None)

    @Service.task
    async def _read(self) -> None:
        """Read all open partitions at once. The channel is bounded, so the reading waits when rating is behind."""
        described_at = 0.0
        while not self.should_stop:
            self._status.loop_ran_at = monotonic()
            if self._status.loop_ran_at - described_at > STATUS_SECONDS:
                self._describe()
                described_at = self._status.loop_ran_at
            self._look_for_awaited_requests()
            turn = await self._turns.fetch()
            if turn is not None:
                await self._channel.put(turn)  # type: ignore[arg-type]  # any value goes
                # The next batches of a partition that was just opened are cut when its first one is written.
                if turn.size < LARGE_TURN or not turn.is_measured:
                    await turn.rated.wait()

    def _describe(self) -> None:
        """Bring the status of the worker up to date."""
        self._status.assigned = len(self._assignment.owned)
        self._status.open = sum(ownership.may_write for ownership in self._assignment.owned.values())
        self._status.quarantined = dict(sorted(self._quarantined()))

    async def rate(self, turn: Turn) -> None:
        """Rate a turn, for the rating agent. No error leaves."""
        await self._turns.rate(turn)

    def open_ownerships(self) -> list[PartitionOwnership]:
        """Return the ownerships of the partitions that are rated now."""
        return [ownership for ownership in self._assignment.owned.values() if ownership.is_open]

    async def guard(self, ownership: PartitionOwnership, work: Awaitable[None]) -> None:
        """Do work on a partition. No error leaves."""
        await self._assignment.guard(ownership, work)

    @Service.task
    async def _emit_leaderboards(self) -> None:
        """Emit the leaderboards that changed in the partitions that are due, on time. A timer would drift."""
        while not self.should_stop:
            await self.sleep(self._schedule.wait(monotonic()))
            if due := self._schedule.find_due(self.open_ownerships(), monotonic()):
                await self._snapshots.emit(due, self._assignment.fail)

    def _look_for_awaited_requests(self) -> None:
        """Begin to choose match requests of campaigns with many systems, if some are awaited."""
        if self._is_choosing or monotonic() - self._looked_at < REQUEST_SECONDS:
            return
        self._looked_at = monotonic()
        awaiting = [ownership for ownership in self.open_ownerships() if ownership.processor.requests.are_awaited]
        if awaiting:
            self._is_choosing = True
            self.add_future(self._choose_requests(awaiting))

    async def _choose_requests(self, awaiting: Sequence[PartitionOwnership]) -> None:
        try:
            for ownership in awaiting:
                if ownership.is_open:
                    await self._choose_requests_of(ownership)
        finally:
            self._is_choosing = False

    async def _choose_requests_of(self, ownership: PartitionOwnership) -> None:
        # A choice takes long, and the next records of a backlog would soon make it an old one.
        behind = (self._consumer.known_end(ownership.partition) or 0) - ownership.read_offset
        if behind < LARGE_TURN or monotonic() - ownership.chosen_at > BEHIND_SECONDS:
            ownership.chosen_at = monotonic()
            await self._assignment.guard(ownership, self._rater.choose_requests(ownership))

    @Service.timer(PROBE_SECONDS)
    async def _probe(self) -> None:
        """Ask both servers something: a consumer that receives nothing does not say why."""
        to_check = {
            partition: ownership for partition, ownership in self._assignment.owned.items() if ownership.is_open
        }
        beginnings: dict[Partition, int] = {}
        ends: dict[Partition, int] = {}
        try:
            with answering(self._settings):
                async with asyncio.timeout(PROBE_SECONDS):
                    beginnings = await self._inspector.beginning_offsets(to_check)
                    ends = await self._inspector.end_offsets(to_check)
        except BrokerUnavailable as error:
            log.warning("%s; waiting, nothing is lost", error, extra={"server": "kafka"})
            self._status.mark_away("Kafka", str(error))
            self._metrics.count_error("Kafka")
        else:
            self._status.mark_back("Kafka")
        for partition, ownership in to_check.items():
            check = self._check(ownership, beginnings.get(partition), ends.get(partition))
            await self._assignment.guard(ownership, check)
        await repeat_after_late(self._rater, list(to_check.values()), self._assignment.guard)

    async def _check(self, ownership: PartitionOwnership, beginning: int | None, end: int | None) -> None:
        """Check the log and the store of a partition that was idle. A busy one would notice by itself."""
        if not ownership.is_open:
            return
        if end is not None and end > ownership.read_offset:
            await self._assignment.pass_over_empty(ownership, end=end)
        persisted = ownership.processor.persisted_offset
        if end is not None:
            ownership.log.end = end
            self._report_open_transaction(ownership, end)
        if ownership.checked_offset == persisted:
            if end is not None:
                ownership.log.reaches(persisted, end=end)
            if beginning is not None and ownership.read_offset == persisted:  # no batch is on its way
                ownership.log.check_beginning(persisted, beginning=beginning)
            await self._rater.verify(ownership, ownership.processor)
        ownership.checked_offset = persisted

    def _report_open_transaction(self, ownership: PartitionOwnership, end: int) -> None:
        partition, waiting = ownership.partition, self._status.waiting
        written = self._consumer.known_end(partition)
        found = ownership.log.find_open_transaction(end=end, written=written, now=monotonic())
        if found is None:
            waiting.pop(str(partition), None)
        elif found != waiting.get(str(partition)):
            waiting[str(partition)] = found
            log.warning("%s", found, extra=ownership.log_fields())

    @Service.timer(COMMIT_SECONDS)
    async def _commit_regularly(self) -> None:
        self._commit(list(self._assignment.owned))
        await self._consumer.stay_in_group()

    def _commit(self, partitions: Iterable[Partition]) -> None:
        owned = [self._assignment.owned[partition] for partition in partitions if partition in self._assignment.owned]
        offsets = {each.partition: each.processor.persisted_offset for each in owned if each.may_write}
        self._consumer.commit(offsets)

    def progress(self) -> Iterator[PartitionProgress]:
        """Return the progress in each partition of this worker."""
        for partition, ownership in self._assignment.owned.items():
            if ownership.is_loaded:
                # The broker is asked every few seconds; a fetch meanwhile may have seen a later end.
                ends = (ownership.log.end, self._consumer.known_end(partition))
                end = max((each for each in ends if each is not None), default=None)
                persisted = ownership.processor.persisted_offset
                yield PartitionProgress(partition.number, persisted, ownership.applied_at, end)

    def partitions(self) -> dict[int, bool]:
        """Return the partitions that the group has assigned to this worker, and whether each is rated."""
        return {partition.number: ownership.may_write for partition, ownership in self._assignment.owned.items()}

    def _quarantined(self) -> Iterator[tuple[str, Quarantine]]:
        for ownership in self._assignment.owned.values():
            if ownership.may_write:
                # The rater's thread may add one meanwhile.
                for name, campaign in tuple(ownership.processor.quarantined.items()):
                    yield name, campaign.quarantine

    def count_campaigns(self) -> int:
        """Return the number of campaigns in memory."""
        return sum(len(processor.campaigns) for processor in self._processors())

    def count_known_campaigns(self) -> int:
        """Return the number of campaigns of this worker's partitions, in memory or not."""
        return sum(len(processor.campaign_names) for processor in self._processors())

    def _processors(self) -> list[Processor]:
        return [ownership.processor for ownership in self._assignment.owned.values() if ownership.may_write]
