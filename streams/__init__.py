"""Judgestream: live, trustworthy rankings from a stream of human judgments.

>>> import streams
>>> streams.rank.__module__
'streams.offline.notebook'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streams.core.campaign.campaign import Campaign
    from streams.errors import JudgestreamError
    from streams.offline.notebook import Judgments, Ranking, rank, read
    from streams.pipeline.embedded import Embedded
    from streams.wire.events import CampaignSettings, Judgment, Leaderboard

__all__ = [
    "Campaign",
    "CampaignSettings",
    "Embedded",
    "JudgestreamError",
    "Judgment",
    "Judgments",
    "Leaderboard",
    "Ranking",
    "rank",
    "read",
]

# Where each name stands: it is imported when it is first asked for, so that `import streams` stays cheap.
_HOMES = {
    "Campaign": "core.campaign.campaign",
    "CampaignSettings": "wire.events",
    "Embedded": "pipeline.embedded",
    "JudgestreamError": "errors",
    "Judgment": "wire.events",
    "Judgments": "offline.notebook",
    "Leaderboard": "wire.events",
    "Ranking": "offline.notebook",
    "rank": "offline.notebook",
    "read": "offline.notebook",
}


if not TYPE_CHECKING:  # a type checker sees the imports above, and so a name that there is not

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'streams' has no attribute {name!r}")
        return getattr(import_module(f"streams.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
