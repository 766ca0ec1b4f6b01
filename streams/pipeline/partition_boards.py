"""The leaderboards of one partition: drafted between two batches, settled in any thread, and emitted."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from streams.errors import StoreUnavailable
from streams.pipeline.faults import is_campaign_fault
from streams.pipeline.outputs import present_outputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streams.pipeline.leaderboards import DraftedBoard, FinishedBoard
    from streams.pipeline.partition_campaigns import PartitionCampaigns
    from streams.wire.outputs import Output

MOST_VISITS = 100  # resting campaigns that are loaded for their leaderboards at once
MOST_DRAFTS, MOST_COPIED = 100, 10_000_000  # leaderboards that are drafted at once, and the counts of them


class PartitionBoards:
    """The leaderboards of the campaigns of one partition. `origin` is the partition."""

    def __init__(self, campaigns: PartitionCampaigns, *, origin: str) -> None:
        self._campaigns = campaigns
        self._leaderboards = campaigns.leaderboards
        self._origin = origin

    def snapshots(self) -> tuple[Output, ...]:
        """Return the leaderboards of the campaigns that changed since the last call. They are settled at once."""
        outputs: list[Output] = []
        names = self.find_due()
        while names:
            announced, drafts, names = self.draft(names)
            outputs += (*announced, *self.finish([draft.settle() for draft in drafts]))
        return tuple(outputs)

    def find_due(self, now: float | None = None) -> list[str]:
        """Return the campaigns whose leaderboards changed. With the time `now`, large ones are due less often.

        Of the campaigns that rest since the partition was opened, each call returns some.
        """
        due = self._leaderboards.find_due(self._campaigns.rated, now)
        return [*due, *islice(self._leaderboards.find_due(self._campaigns.resting, now), MOST_VISITS)]

    def draft(self, names: Sequence[str]) -> tuple[list[Output], list[DraftedBoard], list[str]]:
        """Return leaderboards of campaigns to be settled, and the campaigns that are left for the next call.

        The outputs are new quarantines. If the store did not answer, the call may be repeated.
        """
        outputs: list[Output] = []
        drafts: list[DraftedBoard] = []
        copied = 0
        for place, name in enumerate(names):
            if len(drafts) >= MOST_DRAFTS or copied >= MOST_COPIED:
                return outputs, drafts, list(names[place:])
            rests = name in self._campaigns.resting
            try:
                if rests:
                    self._campaigns.load(name)
            except StoreUnavailable:
                for draft in drafts:
                    self._leaderboards.mark_due(draft.meta.status.campaign)
                raise
            if (campaign := self._campaigns.rated.get(name)) is not None and campaign.exists:
                try:
                    drafts.append(self._leaderboards.draft(campaign))
                    copied += drafts[-1].size
                except Exception as error:
                    if not is_campaign_fault(error):
                        raise
                    self._campaigns.set_apart(campaign, error)
            outputs += self._campaigns.held.announce()
            if rests:
                self._leave(name)
        return outputs, drafts, []

    def _leave(self, name: str) -> None:
        """Remove a campaign from memory again, unless it awaits match requests that its last owner has not chosen."""
        campaign = self._campaigns.rated.get(name)
        if campaign is not None and campaign.awaits_requests:
            self._campaigns.await_requests(campaign)
        else:
            self._campaigns.leave(name)

    def finish(self, boards: Iterable[FinishedBoard], *, now: float = 0.0) -> tuple[Output, ...]:
        """Return leaderboards that were settled, unless newer ones were emitted meanwhile.

        That of the last record waits until the match requests that this record brings about are opened. A campaign that
        can't be ranked is quarantined. The store gets to know with the campaign's next record.
        """
        outputs: list[Output] = []
        for board in boards:
            campaign = self._campaigns.rated.get(board.meta.status.campaign)
            if campaign is not None and campaign.offset == board.meta.offset and campaign.awaits_requests:
                self._leaderboards.mark_due(campaign.name)
                continue
            try:
                outputs += self._leaderboards.finish(board, now=now)
            except Exception as error:
                if not is_campaign_fault(error):
                    raise
                name = board.meta.status.campaign
                if name in self._campaigns.resting:
                    self._campaigns.load(name)
                if name in self._campaigns.rated:
                    self._campaigns.set_apart(self._campaigns.rated[name], error)
                outputs += self._campaigns.held.announce()
        return tuple(outputs)

    def present_outputs(self, names: Iterable[str]) -> tuple[Output, ...]:
        """Return the present leaderboards, ratings and statuses of campaigns, also of those that rest."""
        return tuple(chain.from_iterable(map(self._visit, names)))

    def _visit(self, name: str) -> list[Output]:
        """Return the present outputs of a campaign. One that rests is loaded meanwhile."""
        outputs: list[Output] = []
        rests = name in self._campaigns.resting
        if rests:
            self._campaigns.load(name)
            outputs += self._campaigns.held.announce()
        if name in self._campaigns.rated and self._campaigns.rated[name].exists:
            self._leaderboards.forget_categories(name)
            outputs += self._campaigns.announce(self._campaigns.rated[name])
        found = self._campaigns.rated.get(name) or self._campaigns.quarantined.get(name)
        outputs += present_outputs(found, origin=self._origin)
        if rests:
            self._campaigns.leave(name)
        return outputs
