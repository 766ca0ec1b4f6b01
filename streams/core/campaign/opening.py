"""Which record opens a campaign, and whether a partition can have one more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.campaign.admission import StatusAdmission, check_listed_segments
from streams.core.campaign.commands import apply_command
from streams.errors import RecordError
from streams.wire.events import CampaignSettings, CampaignStatus, Judgment

if TYPE_CHECKING:
    from streams.core.campaign.options import CampaignOptions
    from streams.wire.events import Command


def opens_campaign(event: Judgment | Command, options: CampaignOptions) -> bool:
    """Return whether a record would open its campaign, which does not exist yet."""
    status = CampaignStatus(campaign=event.campaign, state="open", settings=CampaignSettings(), withdrawn=(), offset=-1)
    try:
        if isinstance(event, Judgment):
            StatusAdmission(status).check(event, "")
            return options.create_unknown
        check_listed_segments(apply_command(status, event).settings.segments, most=options.max_segments)
    except RecordError:
        return False
    return True


def check_campaigns(number: int, *, most: int, partition: str) -> None:
    """Raise RecordError if a partition can't have one more campaign."""
    if number >= most:
        message = (
            f"{partition} has {number} campaigns, and the setting `max_campaigns` allows {most}; "
            "raise it on all workers, or delete campaigns"
        )
        raise RecordError("too_many_campaigns", message, field="campaign")
