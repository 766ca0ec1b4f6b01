"""The campaigns of one partition: loaded, rated and ranked, each on its own. A fault in one sets only that one apart.

An unexpected error in the code of a campaign (a bug, not a bad record) quarantines it:

1. The campaign may be half changed. It is dropped and restored from the store, as it was before the batch.
2. Its records are applied one by one, up to the one that fails. So the place is the same with any size of batches.
3. What was applied stays. The record that fails and all later ones wait in the log. They are counted as held.
4. The quarantine is a part of the campaign's status. It is stored in the commit of the batch, and announced.

`judgestream rebuild` rates the campaign again from the log, with code that is repaired, and so ends the quarantine.

A campaign is also quarantined if its stored state can't be used, and at a retraction. It is then rated again from its
log beside its live state, and its quarantine ends by itself (`streams.pipeline.reruns`).
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from streams.core.campaign.campaign import NO_LOG, Campaign
from streams.core.campaign.quarantined import QuarantinedCampaign
from streams.core.campaign.retractions import NewRetraction
from streams.core.campaign.state import StoredCampaign
from streams.errors import Conflict, ForeignCampaign, HistoryGone, RecordError, StoreCorrupt, StoreUnavailable
from streams.pipeline.faults import apply_each, is_campaign_fault, merge
from streams.pipeline.outputs import batch_outputs, make_output
from streams.pipeline.quarantining import QuarantinedCampaigns, restore_or_begin
from streams.pipeline.restoring import restore
from streams.stores.commit import Outcomes
from streams.wire import topics
from streams.wire.events import Retract, encode
from streams.wire.quarantine import Quarantine, describe_error, describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from streams.core.campaign.campaign import Event
    from streams.core.campaign.result import BatchResult
    from streams.core.campaign.state import CampaignChange
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.record import Record
    from streams.stores import Lease, Store
    from streams.wire.outputs import Output

    # Returns the partition's records from an offset to before another, in batches. Raises HistoryGone if its beginning
    # is gone.
    ReadLog = Callable[[int, int], Iterable[Sequence[Record]]]

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
        read_log: ReadLog | None,
    ) -> None:
        self.rated: dict[str, Campaign] = {}
        self._held = QuarantinedCampaigns(topic, partition, options)
        self.quarantined, self.reject = self._held.by_name, self._held.reject
        self._store = store
        self._options = options
        self._lease = lease
        self._read_log = read_log
        self._announced: dict[str, int] = {}  # records of each campaign at its last leaderboard

    def open(self, names: Iterable[str]) -> list[Output]:
        """Load campaigns. Return the outputs that their former owner may not have emitted, and new quarantines."""
        outputs: list[Output] = []
        for name in names:
            try:
                stored = self._load_stored(name)
            except ForeignCampaign as error:
                # Its state was lost, and another partition began it anew with a record that was sent there.
                log.error("%s; %s lists it too, and rejects its records", error, self._lease.partition)
                continue
            if stored is not None:
                outputs += stored.outbox
                if self._add(name, stored):
                    outputs.append(make_output(topics.CAMPAIGNS, name, self.quarantined[name].meta.status))
        for name, found in self.quarantined.items():
            log.warning("%s", describe_quarantine(name, found.quarantine), extra={"campaign": name})
        return outputs

    def load(self, name: str) -> None:
        """Load or begin a campaign that is not in memory. Raise RecordError if it lives on another partition."""
        if name in self.rated or name in self.quarantined:
            return
        try:
            stored = self._load_stored(name)
        except ForeignCampaign as error:
            message = (
                f"the campaign {name!r} lives on {error.home} and this record came on {self._lease.partition}; "
                "publish with the campaign as the record's key, and with one partitioner"
            )
            raise RecordError("wrong_partition", message, field="campaign") from None
        if stored is None:
            self.rated[name] = Campaign(name, options=self._options.campaign)
        else:
            self._add(name, stored)

    def _load_stored(self, name: str) -> StoredCampaign | None:
        """Return a stored campaign. One whose tables can't be read at all has a problem, and no rows."""
        try:
            return self._store.load(self._lease, name)
        except StoreCorrupt as error:
            meta, offset = b"", int(self._store.read_head(name).get("offset", -1))
            with suppress(StoreCorrupt):
                if (found := self._store.read_meta(name)) is not None:
                    meta = encode(found)
            return StoredCampaign(meta=meta, tables={}, scores={}, seen=(), offset=offset, problem=str(error))

    def _add(self, name: str, stored: StoredCampaign) -> bool:
        """Add a stored campaign. Return whether it is quarantined now, and was not before."""
        campaign, error = restore(name, stored, self._options.campaign)
        if isinstance(campaign, Campaign):
            self.rated[name] = campaign
        elif error is None:
            self.quarantined[name] = campaign
        else:
            self._held.add(campaign, error)
            return True
        return False

    def end_quarantine(self, campaign: Campaign) -> None:
        """Rate a campaign from now on, which has taken the place of the one in quarantine."""
        self.rated[campaign.name] = campaign
        self._announced[campaign.name] = campaign.counts.records
        del self.quarantined[campaign.name]

    # -- applying --------------------------------------------------------------------------------------

    def apply(
        self, name: str, offsets: Sequence[int], events: Sequence[Event], records: Mapping[int, Record]
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Apply a campaign's part of the batch. Return no change if the campaign does not exist after it."""
        if name in self.quarantined:
            return self._held.hold(name, offsets, events)
        campaign = self.rated[name]
        before, start = campaign.counts.judgments, campaign.offset
        try:
            result = campaign.apply_records(offsets, events, refusal=None)
            if result.retraction is not None and (refusal := self._find_refusal()) is not None:
                rest = offsets.index(result.retraction.offset)
                result = merge((result, campaign.apply_records(offsets[rest:], events[rest:], refusal=refusal)))
            if (found := result.retraction) is not None:
                del self.rated[name]
                return self._held.begin_rerun(campaign, result, offsets, events, records, found=found)
            # What was applied before a restart made its requests then, under the same ids.
            asks = campaign.offset > start
            result = campaign.complete(result, origin=self._lease.partition, with_requests=asks)
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
        outputs = [*self._held.reject(records, result.rejections), *batch_outputs(campaign.name, result)]
        closed = any(status.state == "closed" for status in result.statuses)
        every = self._options.snapshot_judgments
        if closed or (every and campaign.counts.judgments // every > before // every):
            outputs.append(self._snapshot(campaign))
        return result, campaign.drain_changes(result, tuple(outputs))

    def _find_refusal(self) -> str | None:
        """Return why the log can't be read again, or None if it can."""
        if self._read_log is None:
            return NO_LOG
        try:
            deque(self._read_log(0, 0), maxlen=0)
        except HistoryGone as error:
            return str(error)
        return None

    # -- faults and retractions ------------------------------------------------------------------------

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
        refusal = self._find_refusal() if any(isinstance(event, Retract) for event in events) else None
        good, fault = 0, error
        try:
            campaign = self.rated[name] = restore_or_begin(name, before, self._options)
            judgments, start = campaign.counts.judgments, campaign.offset
            result, good, found = apply_each(campaign, offsets, events, refusal)
            if found is None or isinstance(found, NewRetraction):
                message = "the campaign %r failed on a batch of %d records, but not on each of them"
                log.error(message, name, len(offsets), exc_info=error, extra={"campaign": name})
                if found is not None:
                    del self.rated[name]
                    return self._held.begin_rerun(campaign, result, offsets, events, records, found=found)
                asks = campaign.offset > start
                result = campaign.complete(result, origin=self._lease.partition, with_requests=asks)
                return self._finish(campaign, result, judgments, records)
            fault = found
        except Exception as late:
            if not is_campaign_fault(late):
                raise
            fault = late
        self.rated.pop(name, None)
        return self._held.begin_after_fault(name, before, offsets, events, records, good=good, fault=fault)

    def _load_again(self, name: str, error: Exception) -> StoredCampaign | None:
        """Return the campaign as it was before the batch."""
        # Its neighbours have applied their part. So the batch can't be prepared again, unless all is loaded again.
        try:
            stored = self._load_stored(name)
        except StoreUnavailable as away:
            raise Conflict(f"the campaign {name!r} failed and can't be restored: {away}") from error
        if stored is not None and stored.problem is not None:
            raise Conflict(f"the campaign {name!r} failed and can't be restored: {stored.problem}") from error
        return stored

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
                quarantine = Quarantine(offset=campaign.offset + 1, error=text)
                quarantined = QuarantinedCampaign.begin(campaign.meta, quarantine)
                del self.rated[name]
                self._held.add(quarantined, error)
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
