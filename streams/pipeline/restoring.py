"""A stored campaign, restored to be rated, or set apart if its state can't be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.campaign.campaign import Campaign
from streams.core.campaign.quarantined import QuarantinedCampaign
from streams.core.campaign.state import decode_meta
from streams.errors import StoreCorrupt, StoreOutdated
from streams.pipeline.faults import is_campaign_fault
from streams.wire.quarantine import Quarantine, describe_error

if TYPE_CHECKING:
    from streams.core.campaign.options import CampaignOptions
    from streams.core.campaign.state import StoredCampaign
    from streams.wire.quarantine import Cause


def restore(
    name: str, stored: StoredCampaign, options: CampaignOptions
) -> tuple[Campaign | QuarantinedCampaign, Exception | None]:
    """Return a campaign, or one in quarantine with the error if there is a new one.

    A state that is damaged, incomplete or too old is `corrupt`, and one that an earlier version stored may be
    `outdated`: the campaign is rated again from its log. An unexpected error is a `fault` of this code, which would
    meet it again.
    """
    persisted = stored.offset if stored.offset >= 0 else None
    try:
        meta = decode_meta(name, stored.meta)
    except StoreCorrupt as error:
        text = stored.problem or str(error)
        return QuarantinedCampaign.begin_without_meta(name, offset=stored.offset, error=text), error
    if meta.status.quarantine is not None:
        return QuarantinedCampaign(meta, persisted=persisted), None
    found: Exception
    try:
        if stored.problem is None:
            return Campaign.restore(name, stored, options=options), None
        found = StoreCorrupt(f"campaign {name!r}: {stored.problem}")
        quarantine = Quarantine(offset=meta.offset + 1, error=stored.problem, cause="corrupt")
    except StoreCorrupt as error:
        cause: Cause = "outdated" if isinstance(error, StoreOutdated) else "corrupt"
        found, quarantine = error, Quarantine(offset=meta.offset + 1, error=str(error), cause=cause)
    except Exception as error:
        if not is_campaign_fault(error):
            raise
        found, quarantine = error, Quarantine(offset=meta.offset + 1, error=describe_error(error))
    return QuarantinedCampaign.begin(meta, quarantine, persisted=persisted), found
