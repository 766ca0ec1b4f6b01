"""Applies the records of a batch to the campaigns of a partition, each on its own. A fault in one sets only it apart.

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
from typing import TYPE_CHECKING

from streams.core.campaign.campaign import NO_LOG
from streams.core.campaign.retractions import NewRetraction
from streams.errors import Conflict, HistoryGone, StoreUnavailable
from streams.pipeline.faults import apply_each, is_campaign_fault, merge
from streams.pipeline.outputs import batch_outputs
from streams.pipeline.quarantining import restore_or_begin
from streams.wire.events import Retract

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from streams.core.campaign.campaign import Campaign, Event
    from streams.core.campaign.result import BatchResult
    from streams.core.campaign.state import CampaignChange, StoredCampaign
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.partition_campaigns import PartitionCampaigns
    from streams.pipeline.record import Record

    # Returns the partition's records from an offset to before another, in batches. Raises HistoryGone if its beginning
    # is gone.
    ReadLog = Callable[[int, int], Iterable[Sequence[Record]]]

log = logging.getLogger(__name__)


class CampaignBatches:
    """Applies each campaign's part of a batch. `origin` is the partition, with which the ids of outputs begin."""

    def __init__(
        self, campaigns: PartitionCampaigns, options: ProcessorOptions, *, origin: str, read_log: ReadLog | None
    ) -> None:
        self._campaigns = campaigns
        self._options = options
        self._origin = origin
        self._read_log = read_log

    def apply(
        self, name: str, offsets: Sequence[int], events: Sequence[Event], records: Mapping[int, Record]
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Apply a campaign's part of the batch. Return no change if the campaign does not exist after it."""
        self._campaigns.unopened.discard(name)
        if name in self._campaigns.quarantined:
            return self._campaigns.held.hold(name, offsets, events)
        campaign = self._campaigns.rated[name]
        before, start = campaign.counts.judgments, campaign.offset
        try:
            result = campaign.apply_records(offsets, events, refusal=None)
            if result.retraction is not None and (refusal := self._find_refusal()) is not None:
                rest = offsets.index(result.retraction.offset)
                result = merge((result, campaign.apply_records(offsets[rest:], events[rest:], refusal=refusal)))
            if (found := result.retraction) is not None:
                del self._campaigns.rated[name]
                return self._campaigns.held.begin_rerun(campaign, result, offsets, events, records, found=found)
            # What was applied before a restart made its requests then, under the same ids.
            asks = campaign.offset > start
            result = campaign.complete(result, origin=self._origin, with_requests=asks)
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
            del self._campaigns.rated[campaign.name]
            return result, None
        outputs = [*self._campaigns.held.reject(records, result.rejections), *batch_outputs(campaign.name, result)]
        closed = any(status.state == "closed" for status in result.statuses)
        every = self._options.snapshot_judgments
        if closed or (every and campaign.counts.judgments // every > before // every):
            outputs.append(self._campaigns.leaderboards.make(campaign))
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
            campaign = self._campaigns.rated[name] = restore_or_begin(name, before, self._options)
            judgments, start = campaign.counts.judgments, campaign.offset
            result, good, found = apply_each(campaign, offsets, events, refusal)
            if found is None or isinstance(found, NewRetraction):
                message = "the campaign %r failed on a batch of %d records, but not on each of them"
                log.error(message, name, len(offsets), exc_info=error, extra={"campaign": name})
                if found is not None:
                    del self._campaigns.rated[name]
                    return self._campaigns.held.begin_rerun(campaign, result, offsets, events, records, found=found)
                asks = campaign.offset > start
                result = campaign.complete(result, origin=self._origin, with_requests=asks)
                return self._finish(campaign, result, judgments, records)
            fault = found
        except Exception as late:
            if not is_campaign_fault(late):
                raise
            fault = late
        self._campaigns.rated.pop(name, None)
        return self._campaigns.held.begin_after_fault(name, before, offsets, events, records, good=good, fault=fault)

    def _load_again(self, name: str, error: Exception) -> StoredCampaign | None:
        """Return the campaign as it was before the batch."""
        # Its neighbours have applied their part. So the batch can't be prepared again, unless all is loaded again.
        try:
            stored = self._campaigns.load_stored(name)
        except StoreUnavailable as away:
            raise Conflict(f"the campaign {name!r} failed and can't be restored: {away}") from error
        if stored is not None and stored.problem is not None:
            raise Conflict(f"the campaign {name!r} failed and can't be restored: {stored.problem}") from error
        return stored
