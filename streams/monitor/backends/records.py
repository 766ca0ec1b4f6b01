"""From the records of the output topics to events for the monitor."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from streams.wire import topics
from streams.wire.campaign_names import is_campaign_name
from streams.wire.events import CampaignStatus, Leaderboard, Rejection

if TYPE_CHECKING:
    from datetime import datetime

    from streams.monitor.backends.base import OutputHandler

FOLLOWED = (topics.LEADERBOARDS, topics.CAMPAIGNS, topics.REJECTED)

_leaderboards = msgspec.json.Decoder(Leaderboard)
_statuses = msgspec.json.Decoder(CampaignStatus)
_rejections = msgspec.json.Decoder(Rejection)


def dispatch(handler: OutputHandler, topic: str, key: bytes | None, value: bytes | None, *, at: datetime) -> None:
    """Decode a record and pass it to the handler. Ignore a record that another version wrote."""
    with suppress(msgspec.MsgspecError):
        if topic == topics.LEADERBOARDS.name:
            board = _leaderboards.decode(value or b"")
            if board.category is None:  # those of categories are read from the store when somebody asks for one
                handler.on_leaderboard(board, at=at)
        elif topic == topics.CAMPAIGNS.name:
            handler.on_status(_statuses.decode(value or b""))
        elif topic == topics.REJECTED.name:
            campaign = (key or b"").decode(errors="replace")
            if is_campaign_name(campaign):
                handler.on_rejection(campaign, _rejections.decode(value or b""), at=at)
