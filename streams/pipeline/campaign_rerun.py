"""One campaign that is rated again from its log, step by step and beside its live state.

The campaign is quarantined meanwhile: its new records are held, and its neighbours go on. What it will be depends on
its records and its retractions alone. So the rerun may be interrupted after any step, and go on from what was staged.
If the log holds a retraction that was not known when the rerun began, everything is rated once more without that too.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.result import BatchResult
from streams.core.campaign.retractions import Retractions
from streams.core.campaign.state import decode_meta
from streams.errors import RecordError, StoreCorrupt
from streams.pipeline.decoding import decode_record
from streams.pipeline.leaderboards import is_large
from streams.pipeline.outputs import batch_outputs, leaderboard_output
from streams.pipeline.record import find_time
from streams.pipeline.rejections import rejection_output
from streams.wire.events import Delete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.core.campaign.campaign import Event, FindTime
    from streams.core.campaign.quarantined import QuarantinedCampaign
    from streams.core.campaign.state import CampaignChange
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.record import Record
    from streams.stores.base import StagedCampaign
    from streams.wire.outputs import Output


class CampaignRerun:
    """A new campaign, to which the records of the old one are applied again from the beginning of the partition."""

    def __init__(
        self, held: QuarantinedCampaign, topic: str, partition: int, options: ProcessorOptions, *, until: int
    ) -> None:
        self.held = held
        self.name = held.name
        self.next_offset = 0  # of the log
        self.until = until  # the partition was there when the rerun began; later records of the campaign are held
        self._topic, self._partition = topic, partition
        self._options = options
        self._quarantine = held.quarantine
        self._opened = held.meta.opened  # earlier records were rejected, for example because of `max_campaigns`
        self._name_bytes = self.name.encode()
        self._last: CampaignChange | None  # the changes of the last step
        # All that were found so far, by the offset of the deletion before them. A campaign drops those of a judge whom
        # it forgets, and all when it is deleted.
        self._known = {held.meta.deleted: held.meta.retractions}
        self._start()

    def _start(self) -> None:
        """Begin at the beginning of the log."""
        self.campaign = Campaign(self.name, options=self._options.campaign)
        self._begin_anew()
        self.next_offset, self._step, self.is_outdated, self._last = 0, -1, False, None

    def _begin_anew(self) -> None:
        """Begin with what is known of the campaign from its beginning or its last deletion on."""
        campaign = self.campaign
        campaign.retractions = self._known.get(campaign.deleted, Retractions())
        outstanding = self.held.meta.outstanding if campaign.deleted == self.held.meta.deleted else ()
        campaign.outstanding = {request.id: request for request in outstanding}

    def resume(self, staged: StagedCampaign) -> None:
        """Go on from what was staged, if it was rated without everything that is retracted."""
        try:
            meta = decode_meta(self.name, staged.state.meta)
            known = self._known.get(meta.deleted, Retractions())
            if staged.state.problem is not None or not meta.retractions.includes(known):
                return
            self.campaign = Campaign.restore(self.name, staged.state, options=self._options.campaign)
            self._known[meta.deleted] = known.joined(meta.retractions)
        except StoreCorrupt:
            return
        self.next_offset, self._step = staged.position, staged.step

    def begin_again_if_outdated(self) -> bool:
        """Begin again if a retraction was found on the way. Return whether one was."""
        if not self.is_outdated:
            return False
        self._start()
        return True

    def skip_to(self, offset: int) -> None:
        """Go on at an offset. The log has no record before it that was not applied."""
        self.next_offset = max(self.next_offset, offset)

    def apply(self, records: Sequence[Record]) -> tuple[Output, ...]:
        """Apply the next records of the partition. Return the rejections that may not have been emitted yet."""
        mine = {
            record.offset: record
            for record in records
            if record.offset >= max(self.next_offset, self._opened) and self._may_be(record)
        }
        offsets: list[int] = []
        events: list[Event] = []
        for offset, record in mine.items():
            try:
                event = decode_record(record, max_bytes=self._options.max_record_bytes)
            except RecordError:
                continue  # it belongs to no campaign, and was rejected when it was read
            if event.campaign == self.name:
                offsets.append(offset)
                events.append(event)
        rejections = self._apply(offsets, events, partial(find_time, mine))
        if records:
            self.next_offset = max(self.next_offset, records[-1].offset + 1)
        if self.is_outdated:
            return ()
        first = min(known.first_new_rejection(self._quarantine.offset) for known in self._known.values())
        return tuple(
            rejection_output(self._topic, self._partition, mine[offset], error, self._options.campaign.pseudonyms)
            for offset, error in sorted(rejections.items())
            if offset >= first
        )

    def _apply(self, offsets: Sequence[int], events: Sequence[Event], times: FindTime) -> dict[int, RecordError]:
        """Apply events. After a new retraction this run only looks for more of them."""
        rejections: dict[int, RecordError] = {}
        start = 0
        ends = [*(place + 1 for place, event in enumerate(events) if isinstance(event, Delete)), len(events)]
        while start < len(offsets):
            end = next(each for each in ends if each > start)
            deleted = self.campaign.deleted
            result = self.campaign.apply_records(offsets[start:end], events[start:end], refusal=None, find_time=times)
            rejections |= result.rejections
            if (found := result.retraction) is not None:
                self.campaign.retractions, self.is_outdated = found.retractions, True
                self._known[deleted] = self._known.get(deleted, Retractions()).joined(found.retractions)
                start = offsets.index(found.offset, start)
                continue
            if self.campaign.deleted != deleted:
                self._begin_anew()
            start = end
        return rejections

    def _may_be(self, record: Record) -> bool:
        """Return whether a record may belong to the campaign. An escape in its JSON could hide the name."""
        value = record.value
        return value is not None and (record.key == self._name_bytes or self._name_bytes in value or b"\\" in value)

    def drain_changes(self) -> CampaignChange:
        """Return what changed since the last step, to be staged."""
        result = self.campaign.complete(BatchResult(), origin="", with_requests=False)
        return self._next_step(self.campaign.drain_changes(result, ()))

    def drain_last_changes(self, rejections: tuple[Output, ...]) -> CampaignChange:
        """Return what changed since the last step, with all outputs of the campaign that it is now.

        A second call returns the same, to be written again if the store did not answer.
        """
        if self._last is None:
            campaign, home = self.campaign, f"{self._topic}/{self._partition}"
            # Requests under the usual ids may have been sent before the state was lost.
            origin = f"{home}/again" if self._quarantine.cause in {"corrupt", "outdated"} else home
            result = campaign.complete(BatchResult(), origin=origin, with_requests=True)
            everything = dataclasses.replace(result, ratings=campaign.ratings(origin=home), statuses=(campaign.status,))
            outputs = (
                *rejections,
                *batch_outputs(self.name, everything),
            )
            if campaign.status.state != "deleted" and not is_large(campaign):
                outputs += tuple(map(leaderboard_output, (campaign.leaderboard(), *campaign.category_leaderboards())))
            self._last = self._next_step(campaign.drain_changes(result, outputs))
        return self._last

    def _next_step(self, change: CampaignChange) -> CampaignChange:
        self._step += 1
        return dataclasses.replace(
            change, before=self._step - 1, after=self._step, whole=change.whole or self._step == 0
        )
