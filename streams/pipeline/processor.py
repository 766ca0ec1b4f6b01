"""The walk of one batch: decode ▶ dedupe ▶ rate ▶ persist ▶ emit, the same for every log and every store.

1. **Source** hands over raw records of one partition, in order.
2. **Decode**: bytes become events, or a Rejection.
3. **Dedupe**: an offset that the campaign has applied is skipped; so is a judgment id that it has seen.
4. **Rate**: `Campaign.apply`, pure, on arrays.
5. **Persist**: one atomic call, refused if another worker has taken the partition over.
6. **Emit**: what the batch brought about, with ids derived from its place in the log.

After step 5 the source's offset may be committed: the next owner emits again what may not have been emitted. Steps 3
and 4 are in `streams.core.campaign.campaign`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from streams.core.campaign.campaign import Campaign
from streams.errors import Conflict, ForeignCampaign, RecordError
from streams.pipeline.record import record_fingerprint
from streams.pipeline.rejection_limits import Tally
from streams.pipeline.rejections import rejection_output
from streams.stores.commit import Commit, Outcomes
from streams.wire import topics
from streams.wire.decoding import decode, decode_all
from streams.wire.events import encode
from streams.wire.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import msgspec

    from streams.core.campaign.result import BatchResult
    from streams.core.campaign.state import CampaignChange
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.record import Record
    from streams.stores import Lease, Store
    from streams.stores.commit import PartitionState
    from streams.wire.events import Command, Judgment

    ReadBefore = Callable[[int], Iterable[Record]]  # returns the partition's records before an offset


class Processor:
    """The only writer of the campaigns of one partition, until another one opens the partition."""

    def __init__(
        self,
        topic: str,
        partition: int,
        store: Store,
        options: ProcessorOptions,
        *,
        lease: Lease,
        state: PartitionState,
        campaigns: dict[str, Campaign],
        read_before: ReadBefore | None = None,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.campaigns = campaigns
        self.next_offset = self.persisted_offset = state.next_offset
        self.last_record_fingerprint = state.last_record_fingerprint
        self._store = store
        self._options = options
        self._lease = lease
        self._read_before = read_before
        self._read, self._rejected = state.read, state.rejected
        self._tally = Tally(state.rejected_in_a_row, state.rejected_share)
        self._announced: dict[str, int] = {}  # records of each campaign at its last leaderboard

    @classmethod
    def open(
        cls,
        topic: str,
        partition: int,
        store: Store,
        options: ProcessorOptions,
        *,
        read_before: ReadBefore | None = None,
    ) -> tuple[Processor, tuple[Output, ...]]:
        """Take a partition over with a new epoch, and load its state.

        Return the processor, and the outputs that the former owner may not have emitted.
        """
        lease, state = store.open(f"{topic}/{partition}")
        campaigns, outputs = {}, list(state.outbox)
        for name in state.campaigns:
            if (stored := store.load(lease, name)) is not None:
                campaigns[name] = Campaign.restore(name, stored, options=options.campaign)
                outputs += stored.outbox
        processor = cls(
            topic,
            partition,
            store,
            options,
            lease=lease,
            state=state,
            campaigns=campaigns,
            read_before=read_before,
        )
        return processor, tuple(outputs)

    def prepare(self, records: Sequence[Record]) -> Commit:
        """Decode, dedupe and rate the next records. Nothing is written yet."""
        fresh = {record.offset: record for record in records if record.offset >= self.next_offset}
        without_campaign: dict[int, RecordError] = {}  # rejections that belong to no campaign
        batches: dict[str, tuple[list[int], list[Judgment | Command]]] = {}
        for offset, event in self._decode(fresh, without_campaign):
            batch = batches.get(event.campaign)
            if batch is None:
                if event.campaign not in self.campaigns:
                    try:
                        self.campaigns[event.campaign] = self._load(event.campaign)
                    except RecordError as error:
                        without_campaign[offset] = error
                        continue
                batch = batches[event.campaign] = ([], [])
            batch[0].append(offset)
            batch[1].append(event)
        self._rejected += len(without_campaign)
        rejections, changes, applied, duplicates = dict(without_campaign), [], 0, 0
        for name, (offsets, events) in batches.items():
            result, change = self._apply(name, offsets, events, fresh)
            rejections |= result.rejections
            applied += result.applied
            duplicates += result.duplicates
            if change is None:
                without_campaign |= result.rejections
            else:
                changes.append(change)
        self._tally = self._tally.after((rejections.get(offset) for offset in fresh), self._options.limits)
        before = self.next_offset
        if fresh:
            last = next(reversed(fresh.values()))
            self.next_offset, self.last_record_fingerprint = last.offset + 1, record_fingerprint(last)
        self._read += len(fresh)
        return Commit(
            before=before,
            after=self.next_offset,
            read=self._read,
            rejected=self._rejected,
            rejected_in_a_row=self._tally.in_a_row,
            rejected_share=self._tally.share,
            last_record_fingerprint=self.last_record_fingerprint,
            campaigns=tuple(changes),
            outbox=self._reject(fresh, without_campaign),
            outcomes=Outcomes(read=len(fresh), applied=applied, duplicate=duplicates, rejected=len(rejections)),
            reasons=Counter(error.reason for error in rejections.values()),
        )

    def _decode(
        self, records: Mapping[int, Record], rejections: dict[int, RecordError]
    ) -> Iterable[tuple[int, Judgment | Command]]:
        """Return the events of the records, and add an error to `rejections` for each record that is none."""
        limit = self._options.max_record_bytes
        judgments = decode_all([record.value for record in records.values()], max_bytes=limit)
        if judgments is not None:
            return zip(records, judgments, strict=True)
        events: list[tuple[int, Judgment | Command]] = []
        for offset, record in records.items():
            try:
                events.append((offset, decode(record.value, max_bytes=limit)))
            except RecordError as error:
                rejections[offset] = error
        return events

    def _load(self, name: str) -> Campaign:
        """Return a campaign from the store, or a new one. Raise RecordError if it lives on another partition."""
        try:
            stored = self._store.load(self._lease, name)
        except ForeignCampaign as error:
            message = (
                f"the campaign {name!r} lives on {error.home} and this record came on {self._lease.partition}; "
                "publish with the campaign as the record's key, and with one partitioner"
            )
            raise RecordError("wrong_partition", message, field="campaign") from None
        options = self._options.campaign
        if stored is None:
            return Campaign(name, options=options)
        return Campaign.restore(name, stored, options=options)

    def _apply(
        self, name: str, offsets: list[int], events: list[Judgment | Command], records: Mapping[int, Record]
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Apply a campaign's part of the batch. Return no change if the campaign does not exist after it."""
        campaign = self.campaigns[name]
        before = campaign.counts.judgments
        read_before = self._read_before
        result = campaign.apply(
            offsets,
            events,
            origin=self._lease.partition,
            history=None if read_before is None else lambda end: self._history(name, read_before(end)),
        )
        self._rejected += result.rejected_without_campaign
        if not campaign.exists:
            del self.campaigns[name]
            return result, None
        outputs = [
            *self._reject(records, result.rejections),
            *(_output(topics.RATINGS, f"{name}/{rating.system}", rating) for rating in result.ratings),
            *(_output(topics.MATCH_REQUESTS, name, request) for request in result.requests),
        ]
        outputs += [_output(topics.CAMPAIGNS, name, status) for status in result.statuses]
        closed = any(status.state == "closed" for status in result.statuses)
        every = self._options.snapshot_judgments
        if closed or (every and campaign.counts.judgments // every > before // every):
            outputs.append(self._snapshot(campaign))
        return result, campaign.drain_changes(result, tuple(outputs))

    def _history(self, name: str, records: Iterable[Record]) -> Iterator[tuple[int, Judgment | Command]]:
        """Yield a campaign's events of the log. Records that are no events were rejected."""
        for record in records:
            with suppress(RecordError):
                event = decode(record.value, max_bytes=self._options.max_record_bytes)
                if event.campaign == name:
                    yield record.offset, event

    def _reject(self, records: Mapping[int, Record], errors: Mapping[int, RecordError]) -> tuple[Output, ...]:
        return tuple(
            rejection_output(self.topic, self.partition, records[offset], error)
            for offset, error in sorted(errors.items())
        )

    def _snapshot(self, campaign: Campaign) -> Output:
        self._announced[campaign.name] = campaign.counts.records
        return _output(topics.LEADERBOARDS, campaign.name, campaign.leaderboard())

    def persist(self, commit: Commit) -> None:
        """Write a prepared batch. If the store did not answer, the call may be repeated."""
        self._store.persist(self._lease, commit)
        self.persisted_offset = commit.after

    def verify(self) -> None:
        """Raise Conflict if the store is not where this processor left it, for example after a restored backup."""
        offset = int(self._store.read_partition(self._lease.partition).get("offset", 0))
        if offset != self.persisted_offset:
            raise Conflict(
                f"{self._lease.partition}: the store is at {offset}, and was left at {self.persisted_offset}"
            )

    def process(self, records: Sequence[Record]) -> tuple[Output, ...]:
        """Prepare and persist one batch. Return what is to be emitted. After that the source may be committed."""
        commit = self.prepare(records)
        self.persist(commit)
        return commit.outputs

    def counts(self) -> Outcomes:
        """Return what became of every record of the partition so far."""
        campaigns = [campaign.counts for campaign in self.campaigns.values()]
        return Outcomes(
            read=self._read,
            applied=sum(counts.judgments + counts.commands + counts.retracted for counts in campaigns),
            duplicate=sum(counts.duplicates for counts in campaigns),
            rejected=self._rejected + sum(counts.rejected for counts in campaigns),
        )

    def snapshots(self) -> tuple[Output, ...]:
        """Return the leaderboards of the campaigns that changed since the last call."""
        return tuple(
            self._snapshot(campaign)
            for name, campaign in self.campaigns.items()
            if campaign.exists and self._announced.get(name) != campaign.counts.records
        )


def _output(topic: topics.Topic, key: str, event: msgspec.Struct) -> Output:
    return Output(topic.name, key.encode(), encode(event))
