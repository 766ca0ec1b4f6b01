"""The campaigns of one partition that are rated again from the log: begun, staged, and swapped in when they are done.

The worker does it in the background: `begin` and `stage` are called beside the rating of batches, and `finish` and
`fail` between two batches. An embedded stream and a rebuild finish all reruns at once.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streams.errors import Conflict, HistoryGone, StoreUnavailable
from streams.pipeline.campaign_rerun import CampaignRerun
from streams.pipeline.faults import is_campaign_fault
from streams.pipeline.outputs import category_tombstones, make_output
from streams.wire import topics
from streams.wire.quarantine import describe_error, describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streams.pipeline.campaign_batches import ReadLog
    from streams.pipeline.options import ProcessorOptions
    from streams.pipeline.partition_campaigns import PartitionCampaigns
    from streams.stores import Lease, Store
    from streams.wire.outputs import Output

log = logging.getLogger(__name__)


class PartitionReruns:
    """The reruns of one partition."""

    def __init__(
        self,
        topic: str,
        partition: int,
        store: Store,
        options: ProcessorOptions,
        *,
        lease: Lease,
        campaigns: PartitionCampaigns,
    ) -> None:
        self._topic, self._partition = topic, partition
        self._store = store
        self._options = options
        self._lease = lease
        self._campaigns = campaigns
        self._impossible: set[str] = set()  # campaigns for which the log is not whole

    def waiting(self) -> list[str]:
        """Return the campaigns that are to be rated again."""
        held = tuple(self._campaigns.quarantined.items())  # another thread may add one meanwhile
        return [name for name, found in held if found.quarantine.cause != "fault" and name not in self._impossible]

    def awaiting(self) -> list[str]:
        """Return the campaigns that are to be rated again when a command for their changed verdicts is sent."""
        return self._campaigns.awaiting_rerun()

    def begin(self, name: str, *, until: int) -> CampaignRerun:
        """Return the rerun of a campaign of a partition that is at `until`. It goes on from what is staged of it."""
        held = self._campaigns.quarantined[name]
        rerun = CampaignRerun(held, self._topic, self._partition, self._options, until=until)
        if (staged := self._store.read_staged(self._lease, name)) is not None:
            rerun.resume(staged)
        return rerun

    def end(self, name: str, until: int) -> int:
        """Return where a rerun ends if the partition is at `until`. After a loss the campaign may be ahead of it."""
        held = self._campaigns.quarantined.get(name)
        return until if held is None else max(until, held.meta.offset + 1)

    def is_needed(self, rerun: CampaignRerun) -> bool:
        """Return whether the campaign still waits for its rerun. It may have been deleted meanwhile."""
        return self._campaigns.quarantined.get(rerun.name) is rerun.held

    def drop(self, rerun: CampaignRerun) -> None:
        """Remove what is staged of a campaign that was deleted."""
        if rerun.name not in self._campaigns.quarantined:
            self._store.drop_staged(self._lease, rerun.name)

    def stage(self, rerun: CampaignRerun) -> None:
        """Write what is rated so far beside the live state. If the store did not answer, begin the rerun again."""
        self._store.stage(self._lease, rerun.drain_changes(), position=rerun.next_offset)

    def finish(self, rerun: CampaignRerun, rejections: tuple[Output, ...]) -> tuple[Output, ...]:
        """Swap the campaign in for the one in quarantine. Return its outputs, and `rejections` among them."""
        name, campaign = rerun.name, rerun.campaign
        assert rerun.next_offset >= self.end(name, rerun.until)
        if not campaign.exists:
            self._store.remove(self._lease, name)
            del self._campaigns.quarantined[name]
            log.warning("the log has no record that opens the campaign %r; it is removed", name)
            return rejections
        change = rerun.drain_last_changes((*rejections, *self._removed_boards(rerun)))
        self._store.stage(self._lease, change, position=rerun.next_offset)
        try:
            self._store.swap_staged(self._lease, name, offset=campaign.offset)
        except StoreUnavailable as away:
            # Whether it is swapped in can only be seen when the partition is loaded again.
            raise Conflict(f"the campaign {name!r} was rated again, and can't be swapped in: {away}") from None
        self._campaigns.end_quarantine(campaign)
        log.info("the campaign %r is rated again, and goes on", name, extra={"campaign": name})
        return change.outbox

    def _removed_boards(self, rerun: CampaignRerun) -> Iterator[Output]:
        """Yield what removes the leaderboards of categories that have no judgment any more."""
        if rerun.held.meta.status.settings.boards:
            left = rerun.campaign.categories
            _, before = self._campaigns.read_names(rerun.name)
            gone = (each for each in before if left is None or each not in left.names)
            yield from category_tombstones(rerun.name, gone)

    def fail(self, name: str, error: Exception) -> tuple[Output, ...]:
        """Leave a campaign in quarantine because its rerun has failed. Return its status."""
        if (held := self._campaigns.quarantined.get(name)) is None:
            return ()  # it was deleted meanwhile
        if isinstance(error, HistoryGone):
            self._impossible.add(name)
            held.change_quarantine(error=str(error))
        else:
            self._store.drop_staged(self._lease, name)
            held.change_quarantine(error=describe_error(error), cause="fault")
        log.error("%s", describe_quarantine(name, held.quarantine), exc_info=error, extra={"campaign": name})
        return (make_output(topics.CAMPAIGNS, name, held.meta.status),)

    def finish_all(self, read_log: ReadLog, *, until: int) -> dict[str, tuple[Output, ...]]:
        """Rate all waiting campaigns again at once, up to an offset of the log. Return their outputs."""
        outputs: dict[str, tuple[Output, ...]] = {}
        rejections: dict[str, tuple[Output, ...]] = {}
        reruns = [self.begin(name, until=until) for name in self.waiting()]
        until = max((self.end(rerun.name, until) for rerun in reruns), default=until)
        while behind := [rerun for rerun in reruns if rerun.next_offset < until and rerun.name not in outputs]:
            try:
                for records in read_log(min(rerun.next_offset for rerun in behind), until):
                    for rerun in behind:
                        if rerun.name not in outputs:
                            with self._failing(rerun.name, outputs):
                                rejections[rerun.name] = (*rejections.get(rerun.name, ()), *rerun.apply(records))
            except HistoryGone as error:
                return outputs | {rerun.name: self.fail(rerun.name, error) for rerun in behind}
            for rerun in behind:
                rerun.skip_to(until)
                if rerun.begin_again_if_outdated():
                    del rejections[rerun.name]
        for rerun in reruns:
            if rerun.name not in outputs:
                with self._failing(rerun.name, outputs):
                    outputs[rerun.name] = self.finish(rerun, rejections.get(rerun.name, ()))
        return outputs

    @contextmanager
    def _failing(self, name: str, outputs: dict[str, tuple[Output, ...]]) -> Iterator[None]:
        """Catch a fault in the code of one campaign: it ends its rerun, and no other."""
        try:
            yield
        except Exception as error:
            if not is_campaign_fault(error):
                raise
            outputs[name] = self.fail(name, error)
