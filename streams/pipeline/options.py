"""The part of the settings that a processor needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streams.core.campaign.options import CampaignOptions
from streams.core.campaign.pseudonyms import Pseudonyms
from streams.core.campaign.request_ids import request_key
from streams.pipeline.undecodable_limits import UndecodableLimits

if TYPE_CHECKING:
    from streams.settings import Settings


@dataclass(frozen=True, kw_only=True)
class ProcessorOptions:
    """Options of a processor and of its campaigns."""

    campaign: CampaignOptions
    limits: UndecodableLimits
    max_record_bytes: int
    snapshot_judgments: int  # a leaderboard is emitted after this many judgments; 0: never
    idle_seconds: float  # a campaign without records for so long leaves memory
    max_loaded_campaigns: int  # in memory between two batches
    max_campaigns: int  # per partition

    @classmethod
    def from_settings(cls, settings: Settings) -> ProcessorOptions:
        """Return the options that the settings ask for."""
        return cls(
            campaign=CampaignOptions(
                pseudonyms=Pseudonyms(settings.judge_key.encode()),
                seen_ids=settings.seen_ids,
                create_unknown=settings.unknown_campaign == "create",
                seed=settings.seed,
                request_key=request_key(settings.judge_key),
                max_judges=settings.max_judges,
                max_segments=settings.max_segments,
                max_group_cells=settings.max_group_cells,
            ),
            limits=UndecodableLimits(
                in_a_row=settings.max_undecodable_in_a_row,
                share=settings.max_undecodable_share,
                window=settings.undecodable_window,
            ),
            max_record_bytes=settings.max_record_bytes,
            snapshot_judgments=settings.snapshot_judgments,
            idle_seconds=settings.idle_seconds,
            max_loaded_campaigns=settings.max_loaded_campaigns,
            max_campaigns=settings.max_campaigns,
        )

    def for_reading_again(self) -> ProcessorOptions:
        """Return the options to rate records again that workers have read, whatever their limits were then."""
        limits = UndecodableLimits(in_a_row=0, share=1.0, window=self.limits.window)
        return replace(self, limits=limits, snapshot_judgments=0)
