"""Judgestream: live, trustworthy rankings from a stream of human judgments.

>>> import streams
>>> streams.rank.__module__
'streams.notebook'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streams.campaign import Campaign
    from streams.embedded import Embedded
    from streams.errors import JudgestreamError
    from streams.events import CampaignSettings, Judgment, Leaderboard
    from streams.notebook import Judgments, Ranking, rank, read

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
    "Campaign": "campaign",
    "CampaignSettings": "events",
    "Embedded": "embedded",
    "JudgestreamError": "errors",
    "Judgment": "events",
    "Judgments": "notebook",
    "Leaderboard": "events",
    "Ranking": "notebook",
    "rank": "notebook",
    "read": "notebook",
}


if not TYPE_CHECKING:  # a type checker sees the imports above, and so a name that there is not

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'streams' has no attribute {name!r}")
        return getattr(import_module(f"streams.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
