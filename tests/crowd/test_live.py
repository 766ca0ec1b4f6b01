"""The crowd on Kafka, as far as it needs no server. tests/integration/test_simulate.py runs it."""

from __future__ import annotations

from datetime import datetime

import msgspec

from streams.crowd.live import CrowdProgress, LiveCrowd
from streams.settings import Settings
from streams.wire.events import CampaignSettings, CampaignStatus, Judgment, MatchRequest, encode
from tests.builders import NOON, judgment


def answer(request: MatchRequest, asked: datetime) -> Judgment:
    return judgment(int(request.id[1:]), request=request.id, at=asked)


def test_a_cancelled_request_is_not_answered() -> None:
    status = CampaignStatus(campaign="c", state="open", settings=CampaignSettings(), withdrawn=(), offset=0)
    crowd = LiveCrowd(
        Settings(), CrowdProgress(status, 0), answer, most=None, rate=None, patience=1.0, observe=lambda: None
    )
    requests = [
        MatchRequest(
            id=f"r{number}",
            campaign="c",
            systems=("a", "b"),
            segment="s",
            why="test",
            information=0.1,
            expires_at=NOON,
        )
        for number in range(3)
    ]
    for request in (*requests, msgspec.structs.replace(requests[1], cancelled=True), requests[1]):
        crowd._receive_request(encode(request))
    assert sorted(waiting.request or "" for *_, waiting in crowd._waiting) == ["r0", "r2"]
