"""The campaigns of one partition: loaded, rated and ranked, each on its own. A fault in one sets only that one apart.

An unexpected error in the code of a campaign (a bug, not a bad record) quarantines it:

1. The campaign may be half changed. It is dropped and restored from the store, as it was before the batch.
2. Its records are applied one by one, up to the one that fails. So the place is the same with any size of batches.
3. What was applied stays. The record that fails and all later ones wait in the log. They are counted as held.
4. The quarantine is a part of the campaign's status. It is stored in the commit of the batch, and announced.

`judgestream rebuild` rates the campaign again from the log, with code that is repaired, and so ends the quarantine.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.quarantined import QuarantinedCampaign
from streams.core.campaign.result import BatchResult
from streams.core.campaign.state import decode_meta
from streams.errors import Conflict, ForeignCampaign, RecordError, StoreUnavailable
from streams.pipeline.faults import apply_each, is_campaign_fault, merge
from streams.pipeline.outputs import batch_outputs, make_output, status_outputs
from streams.pipeline.rejections import rejection_output
from streams.stores.commit import Outcomes
from streams.wire import topics
from streams.wire.decoding import decode
from streams.wire.quarantine import describe_error, describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from streams.core.campaign.campaign import Event, History
    from streams.core.campaign.state import CampaignChange, StoredCampaign
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.record import Record
    from streams.stores import Lease, Store
    from streams.wire.outputs import Output

    ReadBefore = Callable[[int], Iterable[Record]]  # returns the partition's records before an offset

log = logging.getLogger(__name__)


class PartitionCampaigns:
    """The campaigns of one partition that are in memory, by name: those that are rated, and those in quarantine."""

    def __init__(
        self,
        topic: str,
        partition: int,
        store: Store,
        options: ProcessorOptions,
        *,
        lease: Lease,
        read_before: ReadBefore | None,
    ) -> None:
        self.rated: dict[str, Campaign] = {}
        self.quarantined: dict[str, QuarantinedCampaign] = {}
        self._topic, self._partition = topic, partition
        self._store = store
        self._options = options
        self._lease = lease
        self._read_before = read_before
        self._announced: dict[str, int] = {}  # records of each campaign at its last leaderboard

    def open(self, names: Iterable[str]) -> list[Output]:
        """Load campaigns. Return the outputs that their former owner may not have emitted."""
        outputs: list[Output] = []
        for name in names:
            if (stored := self._store.load(self._lease, name)) is not None:
                self._add(name, stored)
                outputs += stored.outbox
        for name, found in self.quarantined.items():
            log.warning("%s", describe_quarantine(name, found.quarantine), extra={"campaign": name})
        return outputs

    def load(self, name: str) -> None:
        """Load or begin a campaign that is not in memory. Raise RecordError if it lives on another partition."""
        if name in self.rated or name in self.quarantined:
            return
        try:
            stored = self._store.load(self._lease, name)
        except ForeignCampaign as error:
            message = (
                f"the campaign {name!r} lives on {error.home} and this record came on {self._lease.partition}; "
                "publish with the campaign as the record's key, and with one partitioner"
            )
            raise RecordError("wrong_partition", message, field="campaign") from None
        self._add(name, stored)

    def _add(self, name: str, stored: StoredCampaign | None) -> None:
        if stored is not None and (meta := decode_meta(name, stored.meta)).status.quarantine is not None:
            self.quarantined[name] = QuarantinedCampaign(meta)
            return
        try:
            self.rated[name] = self._restore(name, stored)
        except Exception as error:
            if stored is None or not is_campaign_fault(error):
                raise
            self._set_apart(QuarantinedCampaign.begin(meta, offset=meta.offset + 1, error=describe_error(error)), error)

    def _restore(self, name: str, stored: StoredCampaign | None) -> Campaign:
        options = self._options.campaign
        return Campaign(name, options=options) if stored is None else Campaign.restore(name, stored, options=options)

    # -- applying --------------------------------------------------------------------------------------

    def apply(
        self, name: str, offsets: Sequence[int], events: Sequence[Event], records: Mapping[int, Record]
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Apply a campaign's part of the batch. Return no change if the campaign does not exist after it."""
        if name in self.quarantined:
            return self._hold(self.quarantined[name], offsets, events)
        campaign = self.rated[name]
        before = campaign.counts.judgments
        try:
            result = campaign.apply(offsets, events, origin=self._lease.partition, history=self._history(name))
            return self._finish(campaign, result, before, records)
        except Exception as error:
            if not is_campaign_fault(error):
                raise
            return self._recover(name, offsets, events, records, error)

    def _finish(
        self, campaign: Campaign, result: BatchResult, before: int, records: Mapping[int, Record]
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Return what a batch changed in a campaign, with its outputs. It had `before` judgments."""
        if not campaign.exists:
            del self.rated[campaign.name]
            return result, None
        outputs = [*self.reject(records, result.rejections), *batch_outputs(campaign.name, result)]
        closed = any(status.state == "closed" for status in result.statuses)
        every = self._options.snapshot_judgments
        if closed or (every and campaign.counts.judgments // every > before // every):
            outputs.append(self._snapshot(campaign))
        return result, campaign.drain_changes(result, tuple(outputs))

    def reject(self, records: Mapping[int, Record], errors: Mapping[int, RecordError]) -> tuple[Output, ...]:
        """Return the rejections of records, by offset."""
        return tuple(
            rejection_output(self._topic, self._partition, records[offset], error)
            for offset, error in sorted(errors.items())
        )

    def _history(self, name: str) -> History | None:
        """Return a function that reads a campaign's events before an offset. Records that are none were rejected."""
        read_before = self._read_before
        if read_before is None:
            return None

        def read(end: int) -> Iterator[tuple[int, Event]]:
            for record in read_before(end):
                with suppress(RecordError):
                    event = decode(record.value, max_bytes=self._options.max_record_bytes)
                    if event.campaign == name:
                        yield record.offset, event

        return read

    # -- faults ----------------------------------------------------------------------------------------

    def _recover(
        self,
        name: str,
        offsets: Sequence[int],
        events: Sequence[Event],
        records: Mapping[int, Record],
        error: Exception,
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Apply a batch that failed record by record. If one fails again, quarantine the campaign there."""
        before = self._load_again(name, error)
        good, fault = 0, error
        try:
            campaign = self.rated[name] = self._restore(name, before)
            judgments, start = campaign.counts.judgments, campaign.offset
            result, good, found = apply_each(campaign, offsets, events, self._history(name))
            if found is None:
                asks = campaign.offset > start
                result = campaign.complete(result, origin=self._lease.partition, with_requests=asks)
                finished = self._finish(campaign, result, judgments, records)
                message = "the campaign %r failed on a batch of %d records, but not on each of them"
                log.error(message, name, len(offsets), exc_info=error, extra={"campaign": name})
                return finished
            fault = found
        except Exception as late:
            if not is_campaign_fault(late):
                raise
            fault = late
        self.rated.pop(name, None)
        return self._quarantine(name, before, offsets, events, records, good=good, fault=fault)

    def _load_again(self, name: str, error: Exception) -> StoredCampaign | None:
        """Return the campaign as it was before the batch."""
        try:
            return self._store.load(self._lease, name)
        except StoreUnavailable as away:
            # Its neighbours have applied their part. So the batch can't be prepared again, unless all is loaded again.
            raise Conflict(f"the campaign {name!r} failed and can't be restored: {away}") from error

    def _quarantine(
        self,
        name: str,
        before: StoredCampaign | None,
        offsets: Sequence[int],
        events: Sequence[Event],
        records: Mapping[int, Record],
        *,
        good: int,
        fault: Exception,
    ) -> tuple[BatchResult, CampaignChange]:
        """Apply the good records of a batch to the campaign as it was before, and hold the others."""
        try:
            campaign = self._restore(name, before)
            result, _, _ = apply_each(campaign, offsets[:good], events[:good], self._history(name))
            result = campaign.complete(result, origin=self._lease.partition, with_requests=False)
            outputs = [*self.reject(records, result.rejections), *batch_outputs(name, result)]
            applied: CampaignChange | None = campaign.drain_changes(result, ())
            meta = campaign.meta
        except Exception as late:
            if not is_campaign_fault(late):
                raise
            # Not even the good part can be restored, ranked or stored: the whole batch is held.
            good, fault, result, outputs, applied = 0, late, BatchResult(), [], None
            meta = Campaign(name).meta if before is None else decode_meta(name, before.meta)
        first = offsets[good] if good < len(offsets) else offsets[-1] + 1
        first = max(first, meta.offset + 1)
        quarantined = QuarantinedCampaign.begin(meta, offset=first, error=describe_error(fault))
        announced = BatchResult(statuses=(quarantined.meta.status,))
        held = quarantined.hold(offsets[good:], events[good:])
        outputs += [*status_outputs(announced), *status_outputs(held)]
        self._set_apart(quarantined, fault)
        seen_ids = self._options.campaign.seen_ids
        return merge((result, announced, held)), quarantined.drain_changes(
            tuple(outputs), seen_ids=seen_ids, applied=applied
        )

    def _hold(
        self, campaign: QuarantinedCampaign, offsets: Sequence[int], events: Sequence[Event]
    ) -> tuple[BatchResult, CampaignChange]:
        result = campaign.hold(offsets, events)
        outputs = tuple(status_outputs(result))
        return result, campaign.drain_changes(outputs, seen_ids=self._options.campaign.seen_ids)

    def _set_apart(self, campaign: QuarantinedCampaign, fault: Exception) -> None:
        self.quarantined[campaign.name] = campaign
        fields = {"campaign": campaign.name, "topic": self._topic, "partition": self._partition}
        fields["offset"] = campaign.quarantine.offset
        log.error("%s", describe_quarantine(campaign.name, campaign.quarantine), exc_info=fault, extra=fields)

    # -- ranking ---------------------------------------------------------------------------------------

    def snapshots(self) -> tuple[Output, ...]:
        """Return the leaderboards of the campaigns that changed since the last call.

        A campaign that can't be ranked is quarantined. The store gets to know with the campaign's next record.
        """
        outputs = []
        for name, campaign in list(self.rated.items()):
            if not campaign.exists or self._announced.get(name) == campaign.counts.records:
                continue
            try:
                outputs.append(self._snapshot(campaign))
            except Exception as error:
                if not is_campaign_fault(error):
                    raise
                text = describe_error(error)
                quarantined = QuarantinedCampaign.begin(campaign.meta, offset=campaign.offset + 1, error=text)
                del self.rated[name]
                self._set_apart(quarantined, error)
                outputs.append(make_output(topics.CAMPAIGNS, name, quarantined.meta.status))
        return tuple(outputs)

    def announce_all(self) -> None:
        """Include all leaderboards in the next snapshots."""
        self._announced.clear()

    def _snapshot(self, campaign: Campaign) -> Output:
        board = make_output(topics.LEADERBOARDS, campaign.name, campaign.leaderboard())
        self._announced[campaign.name] = campaign.counts.records
        return board

    def counts(self) -> Outcomes:
        """Return what became of the records of all campaigns."""
        counts = [campaign.counts for campaign in self.rated.values()]
        counts += [campaign.counts for campaign in self.quarantined.values()]
        return Outcomes(
            read=sum(each.records for each in counts),
            applied=sum(each.judgments + each.commands + each.retracted for each in counts),
            duplicate=sum(each.duplicates for each in counts),
            rejected=sum(each.rejected for each in counts),
            held=sum(each.held for each in counts),
        )
