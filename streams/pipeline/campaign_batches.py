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
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from streams.core.campaign.quarantined import QuarantinedCampaign
from streams.core.campaign.result import merge
from streams.core.campaign.retractions import NO_LOG, NewRetraction, RerunCommand
from streams.errors import Conflict, HistoryGone, StoreUnavailable
from streams.pipeline.faults import apply_each, is_campaign_fault
from streams.pipeline.outputs import batch_outputs, category_tombstones, status_outputs, tombstone
from streams.pipeline.quarantining import BeforeBatch
from streams.pipeline.record import find_time
from streams.wire import topics
from streams.wire.events import ENDED, Delete
from streams.wire.quarantine import Quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from streams.core.campaign.campaign import Campaign, Event
    from streams.core.campaign.result import BatchResult
    from streams.core.campaign.state import CampaignChange
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
            place = _find_deletion(events, offsets, after=self._campaigns.quarantined[name].meta.offset)
            if place is None:
                return self._campaigns.held.hold(name, offsets, events)
            return self._delete_held(name, place, offsets, events, records)
        return self._apply(name, offsets, events, records, partial(self._load_again, name))

    def _apply(
        self,
        name: str,
        offsets: Sequence[int],
        events: Sequence[Event],
        records: Mapping[int, Record],
        load_before: Callable[[Exception], BeforeBatch],
    ) -> tuple[BatchResult, CampaignChange | None]:
        campaign = self._campaigns.rated[name]
        before, start = campaign.counts.judgments, campaign.offset
        try:
            times = partial(find_time, records)
            result = campaign.apply_records(offsets, events, refusal=None, find_time=times)
            if result.retraction is not None and (refusal := self._find_refusal()) is not None:
                rest = offsets.index(result.retraction.offset)
                more = campaign.apply_records(offsets[rest:], events[rest:], refusal=refusal, find_time=times)
                result = merge((result, more))
            if (found := result.retraction) is not None:
                del self._campaigns.rated[name]
                if (place := _find_deletion(events, offsets, after=found.offset)) is not None:
                    return self._delete(name, load_before(found), place, offsets, events, records)
                return self._campaigns.held.begin_rerun(campaign, result, offsets, events, records, found=found)
            # What was applied before a restart made its requests then, under the same ids.
            asks = campaign.offset > start
            result = campaign.complete(result, origin=self._origin, with_requests=asks, may_defer=True)
            return self._finish(campaign, result, before, records)
        except Exception as error:
            if not is_campaign_fault(error):
                raise
            return self._recover(name, offsets, events, records, error, load_before(error))

    def _finish(
        self, campaign: Campaign, result: BatchResult, before: int, records: Mapping[int, Record]
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Return what a batch changed in a campaign, with its outputs. It had `before` judgments."""
        if not campaign.exists:
            del self._campaigns.rated[campaign.name]
            return result, None
        outputs = [*self._campaigns.held.reject(records, result.rejections), *batch_outputs(campaign.name, result)]
        states = {status.state for status in result.statuses}
        if "deleted" in states:  # what was emitted is removed, also if the batch begins the campaign anew
            self._campaigns.leaderboards.forget_categories(campaign.name)
        every = self._options.snapshot_judgments
        if states & ENDED or (every and campaign.counts.judgments // every > before // every):
            outputs += self._campaigns.leaderboards.make(campaign)
        self._campaigns.await_requests(campaign)
        if states & {"archived", "deleted"}:
            self._campaigns.end(campaign.name)
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
        before: BeforeBatch,
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Apply a batch that failed record by record. If one fails again, quarantine the campaign there."""
        refusal = self._find_refusal() if any(isinstance(event, RerunCommand) for event in events) else None
        good, fault = 0, error
        try:
            campaign = self._campaigns.rated[name] = before.begin()
            judgments, start = campaign.counts.judgments, campaign.offset
            result, good, found = apply_each(campaign, offsets, events, refusal, partial(find_time, records))
            if found is None or isinstance(found, NewRetraction):
                message = "the campaign %r failed on a batch of %d records, but not on each of them"
                log.error(message, name, len(offsets), exc_info=error, extra={"campaign": name})
                if found is not None:
                    del self._campaigns.rated[name]
                    if (place := _find_deletion(events, offsets, after=found.offset)) is not None:
                        return self._delete(name, before, place, offsets, events, records)
                    return self._campaigns.held.begin_rerun(campaign, result, offsets, events, records, found=found)
                asks = campaign.offset > start
                result = campaign.complete(result, origin=self._origin, with_requests=asks, may_defer=True)
                return self._finish(campaign, result, judgments, records)
            fault = found
        except Exception as late:
            if not is_campaign_fault(late):
                raise
            fault = late
        self._campaigns.rated.pop(name, None)
        if good < len(offsets) and (place := _find_deletion(events, offsets, after=offsets[good])) is not None:
            return self._delete(name, before, place, offsets, events, records)
        return self._campaigns.held.begin_after_fault(before, offsets, events, records, good=good, fault=fault)

    def _load_again(self, name: str, error: Exception) -> BeforeBatch:
        """Return the campaign as it was before the batch."""
        # Its neighbours have applied their part. So the batch can't be prepared again, unless all is loaded again.
        try:
            stored = self._campaigns.load_stored(name)
        except StoreUnavailable as away:
            raise Conflict(f"the campaign {name!r} failed and can't be restored: {away}") from error
        if stored is not None and stored.problem is not None:
            raise Conflict(f"the campaign {name!r} failed and can't be restored: {stored.problem}") from error
        return BeforeBatch.stored(name, stored, self._options.campaign)

    # -- deletion of a campaign in quarantine ------------------------------------------------------------

    def _delete(
        self,
        name: str,
        before: BeforeBatch,
        place: int,
        offsets: Sequence[int],
        events: Sequence[Event],
        records: Mapping[int, Record],
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Delete a campaign that would be set apart at an earlier record of the same batch."""
        quarantine = Quarantine(offset=offsets[0], error="it is deleted in the same batch")
        held = QuarantinedCampaign.begin(before.meta, quarantine, persisted=before.persisted)
        self._campaigns.quarantined[name] = held
        return self._delete_held(name, place, offsets, events, records)

    def _delete_held(
        self,
        name: str,
        place: int,
        offsets: Sequence[int],
        events: Sequence[Event],
        records: Mapping[int, Record],
    ) -> tuple[BatchResult, CampaignChange | None]:
        """Delete a campaign in quarantine. What is left does not depend on the records that were held.

        So the quarantine ends, and the records after the command are applied.
        """
        systems, categories = self._campaigns.read_names(name)
        held = self._campaigns.quarantined.pop(name)
        before = held.hold(offsets[:place], events[:place])
        start = BeforeBatch(partial(held.without_quarantine, self._options.campaign), held.meta, held.persisted_offset)
        self._campaigns.rated[name] = start.begin()
        result, change = self._apply(name, offsets[place:], events[place:], records, lambda _: start)
        assert change is not None
        removed = (tombstone(topics.RATINGS, f"{name}/{system}") for system in systems)
        outbox = (*status_outputs(before), *removed, *category_tombstones(name, categories), *change.outbox)
        return merge((before, result)), replace(change, outbox=outbox)


def _find_deletion(events: Sequence[Event], offsets: Sequence[int], *, after: int) -> int | None:
    """Return the place of the first command after an offset that deletes the campaign, if there is one."""
    places = enumerate(zip(offsets, events, strict=True))
    return next((place for place, (offset, event) in places if offset > after and isinstance(event, Delete)), None)
