"""What a batch did to a campaign."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streams.core.campaign.retractions import NewRetraction
    from streams.core.campaign.state import SystemRow
    from streams.errors import RecordError
    from streams.wire.events import CampaignStatus, MatchRequest, Rating
    from streams.wire.leaderboard import Category


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    """What a batch did to a campaign. Every record is applied, a duplicate, rejected, or held in a quarantine."""

    applied: int = 0  # judgments, commands, and judgments that a later command of the log retracts
    duplicates: int = 0  # repeated offsets, repeated ids of judgments and repeated ids of commands
    held: int = 0
    rejections: Mapping[int, RecordError] = field(default_factory=dict)  # by offset
    rejected_without_campaign: int = 0  # records that were rejected before the campaign was opened
    statuses: tuple[CampaignStatus, ...] = ()  # one for each change of the status
    removed: tuple[str, ...] = ()  # systems of a campaign that was deleted
    removed_categories: tuple[Category, ...] = ()  # of a campaign that was deleted
    rows: tuple[SystemRow, ...] = ()  # of the systems that changed
    ratings: tuple[Rating, ...] = ()  # of the same systems
    requests: tuple[MatchRequest, ...] = ()  # new ones, to be sent
    cancelled: tuple[MatchRequest, ...] = ()  # sent before, and not to be judged any more
    retraction: NewRetraction | None = None  # the batch ended before it: the campaign has to be rated again


def merge(results: Sequence[BatchResult]) -> BatchResult:
    """Return the counts, rejections and statuses of several results as one, and the retraction of the last one."""
    return BatchResult(
        applied=sum(result.applied for result in results),
        duplicates=sum(result.duplicates for result in results),
        held=sum(result.held for result in results),
        rejections={offset: error for result in results for offset, error in result.rejections.items()},
        rejected_without_campaign=sum(result.rejected_without_campaign for result in results),
        statuses=tuple(status for result in results for status in result.statuses),
        removed=tuple(system for result in results for system in result.removed),
        removed_categories=tuple(each for result in results for each in result.removed_categories),
        retraction=results[-1].retraction if results else None,
    )
