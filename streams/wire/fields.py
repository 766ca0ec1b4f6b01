"""Types of fields that several events have, with their limits."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from streams.wire.campaign_names import CAMPAIGN_PATTERN
from streams.wire.limits import MAX_NAME, MAX_RANK, MAX_TAGS

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
_ABOUT_CAMPAIGN = "One leaderboard, e.g. wmt13.fr-en. Letters, digits, '.', '_' and '-'."
CampaignName = Annotated[str, Meta(max_length=MAX_NAME, pattern=CAMPAIGN_PATTERN, description=_ABOUT_CAMPAIGN)]
# The pattern is slow, so `streams.wire.decoding` checks the name of a judgment, and remembers the names it has checked.
JudgedCampaign = Annotated[
    str, Meta(max_length=MAX_NAME, description=_ABOUT_CAMPAIGN, extra_json_schema={"pattern": CAMPAIGN_PATTERN})
]
Time = Annotated[datetime, Meta(tz=True)]
Version = Annotated[
    str,
    Meta(max_length=20, pattern=r"^1(\.[0-9]+)*$(?!\n)", description="1 or 1.x. Other versions are rejected."),
]
Rank = Annotated[int, Meta(ge=1, le=MAX_RANK, description="1 is best. Equal ranks are a tie.")]
Count = Annotated[int, Meta(ge=0)]
Judge = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_NAME,
        description="The judge's id, or `~` and their pseudonym. Only the pseudonym is stored and shown.",
    ),
]
Tags = Annotated[
    dict[Name, Name],
    Meta(max_length=MAX_TAGS, description="What is known about it, e.g. its language. Ratings do not depend on it."),
]
