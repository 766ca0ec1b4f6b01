"""Judgestream: live, trustworthy rankings from a stream of human judgments.

>>> import streams
>>> streams.rank.__module__
'streams.offline.ranking'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streams.core.campaign.campaign import Campaign
    from streams.core.campaign.pseudonyms import wire_pseudonym
    from streams.errors import JudgestreamError
    from streams.offline.diff import RankingDiff, diff
    from streams.offline.judgments import Judgments, read
    from streams.offline.ranking import rank
    from streams.offline.ranking_result import Ranking
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
    "RankingDiff",
    "diff",
    "rank",
    "read",
    "wire_pseudonym",
]

# The module of each name. It is imported on first use, so that `import streams` is fast.
_HOMES = {
    "Campaign": "core.campaign.campaign",
    "CampaignSettings": "wire.events",
    "Embedded": "pipeline.embedded",
    "JudgestreamError": "errors",
    "Judgment": "wire.events",
    "Judgments": "offline.judgments",
    "Leaderboard": "wire.events",
    "Ranking": "offline.ranking_result",
    "RankingDiff": "offline.diff",
    "diff": "offline.diff",
    "rank": "offline.ranking",
    "read": "offline.judgments",
    "wire_pseudonym": "core.campaign.pseudonyms",
}


if not TYPE_CHECKING:  # a type checker uses the imports above, and reports a name that does not exist

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'streams' has no attribute {name!r}")
        return getattr(import_module(f"streams.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
