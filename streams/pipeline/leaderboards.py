"""The leaderboards of a partition's campaigns: which ones have changed since they were last emitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.pipeline.outputs import make_output
from streams.wire import topics

if TYPE_CHECKING:
    from streams.core.campaign.campaign import Campaign
    from streams.core.campaign.state import Counts
    from streams.wire.outputs import Output


class Leaderboards:
    """The number of records of each campaign at its last leaderboard, also of campaigns that rest."""

    def __init__(self) -> None:
        self._records: dict[str, int] = {}

    def is_due(self, name: str, counts: Counts) -> bool:
        """Return whether a campaign has records that its last leaderboard does not include."""
        return self._records.get(name) != counts.records

    def make(self, campaign: Campaign) -> tuple[Output, ...]:
        """Return the leaderboard of a campaign, to be emitted. One that was deleted has none."""
        deleted = campaign.status.state == "deleted"
        boards = () if deleted else (make_output(topics.LEADERBOARDS, campaign.name, campaign.leaderboard()),)
        self.mark_emitted(campaign)
        return boards

    def mark_emitted(self, campaign: Campaign) -> None:
        """Remember that the present leaderboard is emitted."""
        self._records[campaign.name] = campaign.counts.records
