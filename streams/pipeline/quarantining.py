"""Campaigns are set apart after a fault or for a rerun: what was applied stays, and the rest waits in the log."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.quarantined import QuarantinedCampaign
from streams.core.campaign.result import BatchResult, merge
from streams.core.campaign.retractions import NO_LOG
from streams.core.campaign.state import decode_meta
from streams.pipeline.faults import apply_each, is_campaign_fault
from streams.pipeline.leaderboards import is_large
from streams.pipeline.outputs import batch_outputs, leaderboard_output, make_output, status_outputs
from streams.pipeline.record import find_time
from streams.pipeline.rejections import rejection_output
from streams.wire import topics
from streams.wire.quarantine import Quarantine, describe_error, describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streams.core.campaign.campaign import Event
    from streams.core.campaign.options import CampaignOptions
    from streams.core.campaign.retractions import NewRetraction
    from streams.core.campaign.state import CampaignChange, CampaignMeta, StoredCampaign
    from streams.errors import RecordError
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.record import Record
    from streams.wire.outputs import Output

    Applied = tuple[BatchResult, CampaignChange]

log = logging.getLogger(__name__)


class QuarantinedCampaigns:
    """The campaigns of one partition that are in quarantine, by name."""

    def __init__(self, topic: str, partition: int, options: ProcessorOptions) -> None:
        self.by_name: dict[str, QuarantinedCampaign] = {}
        self._unannounced: set[str] = set()
        self._topic, self._partition = topic, partition
        self._options = options

    def add(self, campaign: QuarantinedCampaign, error: Exception, *, announced: bool = True) -> None:
        """Set a campaign apart after an error. If it is not `announced` by the caller, its next outputs announce it."""
        self.by_name[campaign.name] = campaign
        if not announced:
            self._unannounced.add(campaign.name)
        text = describe_quarantine(campaign.name, campaign.quarantine)
        log.error("%s", text, exc_info=error, extra=self._log_fields(campaign))

    def announce(self) -> tuple[Output, ...]:
        """Return the statuses of the campaigns whose quarantine is new."""
        names, self._unannounced = sorted(self._unannounced), set()
        return tuple(make_output(topics.CAMPAIGNS, name, self.by_name[name].meta.status) for name in names)

    def hold(self, name: str, offsets: Sequence[int], events: Sequence[Event]) -> Applied:
        """Hold a campaign's part of a batch."""
        campaign = self.by_name[name]
        result = campaign.hold(offsets, events)
        outputs = (*self.announce(), *status_outputs(result))
        return result, campaign.drain_changes(outputs, seen_ids=self._options.campaign.seen_ids)

    def begin_rerun(
        self,
        campaign: Campaign,
        result: BatchResult,
        offsets: Sequence[int],
        events: Sequence[Event],
        records: Mapping[int, Record],
        *,
        found: NewRetraction,
    ) -> Applied:
        """Hold a campaign's records from a retraction on. It is rated again from its log."""
        rest = offsets.index(found.offset)
        result, outputs, applied = self._drain(campaign, result, records)
        meta = replace(campaign.meta, retractions=found.retractions)
        error = f"the command at offset {found.offset}"
        quarantined = QuarantinedCampaign.begin(meta, Quarantine(offset=found.offset, error=error, cause="retraction"))
        if campaign.exists and not is_large(campaign):
            pending = describe_quarantine(campaign.name, quarantined.quarantine)
            boards = (campaign.leaderboard(), *campaign.category_leaderboards())
            outputs += (leaderboard_output(replace(board, pending=pending)) for board in boards)
        self.by_name[campaign.name] = quarantined
        text = describe_quarantine(campaign.name, quarantined.quarantine)
        log.info("%s", text, extra=self._log_fields(quarantined))
        return self._hold_rest(quarantined, result, outputs, applied, offsets[rest:], events[rest:])

    def begin_after_fault(
        self,
        before: BeforeBatch,
        offsets: Sequence[int],
        events: Sequence[Event],
        records: Mapping[int, Record],
        *,
        good: int,
        fault: Exception,
    ) -> Applied:
        """Apply the good records of a batch to the campaign as it was before, and hold the others."""
        try:
            campaign = before.begin()
            times = partial(find_time, records)
            result, _, _ = apply_each(campaign, offsets[:good], events[:good], NO_LOG, times)
            result, outputs, applied = self._drain(campaign, result, records)
            meta = campaign.meta
        except Exception as late:
            if not is_campaign_fault(late):
                raise
            # Not even the good part can be restored, ranked or stored: the whole batch is held.
            good, fault, result, outputs, applied = 0, late, BatchResult(), [], None
            meta = before.meta
        first = offsets[good] if good < len(offsets) else offsets[-1] + 1
        quarantine = Quarantine(offset=max(first, meta.offset + 1), error=describe_error(fault))
        quarantined = QuarantinedCampaign.begin(meta, quarantine)
        self.add(quarantined, fault)
        return self._hold_rest(quarantined, result, outputs, applied, offsets[good:], events[good:])

    def reject(self, records: Mapping[int, Record], errors: Mapping[int, RecordError]) -> tuple[Output, ...]:
        """Return the rejections of records, by offset."""
        return tuple(
            rejection_output(self._topic, self._partition, records[offset], error, self._options.campaign.pseudonyms)
            for offset, error in sorted(errors.items())
        )

    def _drain(
        self, campaign: Campaign, result: BatchResult, records: Mapping[int, Record]
    ) -> tuple[BatchResult, list[Output], CampaignChange | None]:
        """Return the result, the outputs and the changes of what a campaign has applied before it is set apart."""
        origin = f"{self._topic}/{self._partition}"
        result = campaign.complete(result, origin=origin, with_requests=False)
        outputs = [*self.reject(records, result.rejections), *batch_outputs(campaign.name, result)]
        return result, outputs, campaign.drain_changes(result, ())

    def _hold_rest(
        self,
        quarantined: QuarantinedCampaign,
        result: BatchResult,
        outputs: list[Output],
        applied: CampaignChange | None,
        offsets: Sequence[int],
        events: Sequence[Event],
    ) -> Applied:
        """Announce a new quarantine, and hold the rest of the batch."""
        announced = BatchResult(statuses=(quarantined.meta.status,))
        held = quarantined.hold(offsets, events)
        outputs += [*status_outputs(announced), *status_outputs(held)]
        change = quarantined.drain_changes(tuple(outputs), seen_ids=self._options.campaign.seen_ids, applied=applied)
        return merge((result, announced, held)), change

    def _log_fields(self, campaign: QuarantinedCampaign) -> dict[str, object]:
        place = {"topic": self._topic, "partition": self._partition, "offset": campaign.quarantine.offset}
        return {"campaign": campaign.name, **place}


@dataclass(frozen=True)
class BeforeBatch:
    """A campaign as it was before a batch, and where a store has it. `begin` returns it, and can be called again."""

    begin: Callable[[], Campaign]
    meta: CampaignMeta
    persisted: int

    @classmethod
    def stored(cls, name: str, stored: StoredCampaign | None, options: CampaignOptions) -> BeforeBatch:
        """Return what is stored of a campaign, or a new one."""
        if stored is None:
            return cls(partial(Campaign, name, options=options), Campaign(name).meta, -1)
        begin = partial(Campaign.restore, name, stored, options=options)
        return cls(begin, decode_meta(name, stored.meta), stored.offset)
