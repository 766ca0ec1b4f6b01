"""Campaigns that do not exist."""

from __future__ import annotations

from streams.errors import JudgestreamError
from streams.wire.campaign_names import CAMPAIGN_RULE, is_campaign_name
from streams.wire.decoding import quote


class UnknownCampaign(JudgestreamError):  # noqa: N818
    """The campaign does not exist."""


def check_name(name: str) -> None:
    """Raise UnknownCampaign if no campaign can have this name."""
    if not is_campaign_name(name):
        raise UnknownCampaign(f"no campaign is called {quote(name)}; {CAMPAIGN_RULE}")
