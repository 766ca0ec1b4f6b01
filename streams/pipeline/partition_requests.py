"""The match requests of campaigns with many systems: drafted between two batches, chosen in any thread, and opened.

A choice among many systems takes up to a second, so no batch waits for it. What is chosen depends on the draft alone.
It is persisted before it is emitted, like a batch, and the campaign stays at its offset. If a worker ends before that,
the campaign still awaits its requests, and the next owner chooses them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.core.campaign.result import BatchResult
from streams.pipeline.faults import is_campaign_fault
from streams.pipeline.outputs import batch_outputs

if TYPE_CHECKING:
    from streams.core.campaign.campaign import Campaign
    from streams.core.campaign.request_choice import ChosenRequests, RequestDraft
    from streams.core.campaign.state import CampaignChange
    from streams.pipeline.partition_campaigns import PartitionCampaigns
    from streams.stores import Lease, Store
    from streams.wire.outputs import Output


@dataclass(frozen=True, kw_only=True)
class DraftedRequests:
    """Match requests of a campaign that are to be chosen, in any thread."""

    campaign: Campaign  # only the thread of the processor may use it
    draft: RequestDraft

    def choose(self) -> FinishedRequests:
        """Return what is chosen, or the fault in the code of the campaign."""
        try:
            return FinishedRequests(campaign=self.campaign, result=self.draft.choose())
        except Exception as error:
            if not is_campaign_fault(error):
                raise
            return FinishedRequests(campaign=self.campaign, result=error)


@dataclass(frozen=True, kw_only=True)
class FinishedRequests:
    """Match requests that were chosen, or the fault that prevented it."""

    campaign: Campaign
    result: ChosenRequests | Exception


class PartitionRequests:
    """The match requests that the campaigns of one partition await. The ids of requests begin with `origin`."""

    def __init__(self, campaigns: PartitionCampaigns, store: Store, lease: Lease, *, origin: str) -> None:
        self._campaigns = campaigns
        self._store = store
        self._lease = lease
        self._origin = origin

    @property
    def are_awaited(self) -> bool:
        """Whether a campaign may await requests."""
        return bool(self._campaigns.awaiting)

    def draft(self) -> DraftedRequests | None:
        """Return the next draft of requests that are awaited, if there is one. All that was applied must be persisted.

        A draft of a thousand systems takes 20 MB, so there is one at a time.
        """
        while self._campaigns.awaiting:
            name = self._campaigns.awaiting.popleft()
            campaign = self._campaigns.rated.get(name)
            if campaign is not None and campaign.awaits_requests:
                draft = campaign.draft_requests(self._origin, copied=True)
                return None if draft is None else DraftedRequests(campaign=campaign, draft=draft)
        return None

    def open(self, finished: FinishedRequests) -> tuple[CampaignChange | None, tuple[Output, ...]]:
        """Open requests that were chosen. Return the change, to be persisted, and the outputs, to be emitted after it.

        There is no change if the campaign was rated again, deleted or set apart meanwhile. It is set apart if it can't
        choose.
        """
        campaign = finished.campaign
        if self._campaigns.rated.get(campaign.name) is not campaign:
            return None, ()
        if isinstance(finished.result, Exception):
            self._campaigns.set_apart(campaign, finished.result)
            return None, tuple(self._campaigns.held.announce())
        result = BatchResult(requests=campaign.open_requests(finished.result))
        self._campaigns.await_requests(campaign)
        change = campaign.drain_changes(result, tuple(batch_outputs(campaign.name, result)))
        return change, change.outbox

    def persist(self, change: CampaignChange) -> None:
        """Write a change. If the store did not answer, the call may be repeated."""
        self._store.amend(self._lease, change)

    def open_all(self) -> tuple[Output, ...]:
        """Choose, open and persist all requests that are awaited, at once. Return the outputs."""
        outputs: list[Output] = []
        while (drafted := self.draft()) is not None:
            change, more = self.open(drafted.choose())
            if change is not None:
                self.persist(change)
            outputs += more
        return tuple(outputs)
