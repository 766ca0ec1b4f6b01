"""The leaderboards of a partition's campaigns: which ones have changed since they were last emitted.

The leaderboard of many systems takes seconds. So a worker takes a draft of it between two batches, with a copy of the
counts, settles the draft in another thread, and emits the result between two later batches. A large leaderboard is
settled less often, so that it takes a small share of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from streams.core.campaign.board import BoardDraft
from streams.pipeline.faults import is_campaign_fault
from streams.pipeline.outputs import leaderboard_output
from streams.wire.leaderboard import category_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from streams.core.campaign.campaign import Campaign
    from streams.core.campaign.state import CampaignMeta, Counts
    from streams.pipeline.resting import RestingCampaign
    from streams.wire.events import Leaderboard
    from streams.wire.outputs import Output

LARGE = 64  # systems from which a leaderboard is not settled while a batch waits
MANY_CATEGORIES = 16  # from which leaderboards are not settled while a batch waits
RARE = 20  # a leaderboard that took a time is settled again after this many times that time


@dataclass(frozen=True, kw_only=True)
class DraftedBoard:
    """A leaderboard of a campaign that is to be settled, in any thread."""

    meta: CampaignMeta
    draft: BoardDraft | Leaderboard
    categories: Mapping[int, BoardDraft] = field(default_factory=dict)  # that have changed

    @property
    def size(self) -> int:
        """The number of counts that were copied."""
        drafts = (self.draft, *self.categories.values())
        return sum(draft.counts.cells.size for draft in drafts if isinstance(draft, BoardDraft))

    def settle(self) -> FinishedBoard:
        """Return the leaderboard, or the fault in the code of the campaign, and the seconds that it took."""
        began = perf_counter()
        try:
            board = self.draft.settle() if isinstance(self.draft, BoardDraft) else self.draft
            parts = [draft.settle() for draft in self.categories.values()]
            result: tuple[Leaderboard, ...] | Exception = (board, *sorted(parts, key=category_order))
        except Exception as error:
            if not is_campaign_fault(error):
                raise
            result = error
        keys = {number: hash(draft.key) for number, draft in self.categories.items()}
        return FinishedBoard(meta=self.meta, result=result, seconds=perf_counter() - began, categories=keys)


@dataclass(frozen=True, kw_only=True)
class FinishedBoard:
    """A leaderboard that was settled, with those of its categories after it, or the fault that prevented it."""

    meta: CampaignMeta
    result: tuple[Leaderboard, ...] | Exception
    seconds: float
    categories: Mapping[int, int] = field(default_factory=dict)  # hashes of what the categories were settled from


class Leaderboards:
    """The counts of each campaign at its last leaderboard, also of campaigns that rest."""

    def __init__(self) -> None:
        self._counts: dict[str, Counts] = {}
        self._categories: dict[str, dict[int, int]] = {}  # hashes of the emitted ones, by campaign and number
        self._not_before: dict[str, float] = {}  # when a leaderboard that took long may be settled again

    def is_due(self, name: str, counts: Counts, *, now: float | None = None) -> bool:
        """Return whether a campaign has records that its last leaderboard does not include.

        With the time `now`, one that takes long is due only after a while.
        """
        if now is not None and now < self._not_before.get(name, now):
            return False
        return not self._has_emitted(name, counts)

    def find_due(self, campaigns: Mapping[str, Campaign | RestingCampaign], now: float | None) -> Iterator[str]:
        """Yield the campaigns whose leaderboards are due. Most have not changed, and their counts are the same object.

        All campaigns are asked every few seconds.
        """
        emitted = self._counts
        for name, found in campaigns.items():
            if emitted.get(name) is not found.counts and self.is_due(name, found.counts, now=now):
                yield name

    def _has_emitted(self, name: str, counts: Counts) -> bool:
        """Return whether the last leaderboard of a campaign includes as many records as these counts."""
        last = self._counts.get(name)
        return last is not None and (last is counts or last.records == counts.records)

    def make(self, campaign: Campaign) -> tuple[Output, ...]:
        """Return the leaderboard of a campaign, to be emitted at once. A large one is none, and stays due."""
        if is_large(campaign):
            self.mark_due(campaign.name)
            return ()
        return self.finish(self.draft(campaign).settle())

    def draft(self, campaign: Campaign) -> DraftedBoard:
        """Return the leaderboard of a campaign as of now, to be settled. No other is due until then."""
        self.mark_emitted(campaign)
        categories = campaign.draft_categories(self._categories.get(campaign.name, {}))
        return DraftedBoard(meta=campaign.meta, draft=campaign.draft_leaderboard(), categories=categories)

    def finish(self, board: FinishedBoard, *, now: float = 0.0) -> tuple[Output, ...]:
        """Return a leaderboard and those of its categories, to be emitted.

        There are none if a newer one was emitted meanwhile or the campaign was deleted.

        Otherwise raise the fault if there is one.
        """
        name = board.meta.status.campaign
        if not self._has_emitted(name, board.meta.counts) or board.meta.status.state == "deleted":
            return ()
        if isinstance(board.result, Exception):
            raise board.result
        if board.categories:
            self._categories.setdefault(name, {}).update(board.categories)
        if len(board.result[0].rows) >= LARGE or len(board.result) > MANY_CATEGORIES:
            self._not_before[name] = now + RARE * board.seconds
        return tuple(map(leaderboard_output, board.result))

    def mark_emitted(self, campaign: Campaign) -> None:
        """Remember that the present leaderboard is emitted."""
        self._counts[campaign.name] = campaign.counts

    def mark_due(self, name: str) -> None:
        """Remember that the present leaderboard of a campaign is to be emitted, also if an earlier one was."""
        self._counts.pop(name, None)
        self.forget_categories(name)

    def forget_categories(self, name: str) -> None:
        """Remember that the leaderboards of all categories of a campaign are to be emitted."""
        self._categories.pop(name, None)


def is_large(campaign: Campaign) -> bool:
    """Return whether a leaderboard takes too long to be settled while a batch waits."""
    if campaign.status.state == "deleted":
        return False
    categories = campaign.categories
    return len(campaign.tables.systems) >= LARGE or (
        categories is not None and len(categories.names) >= MANY_CATEGORIES
    )
