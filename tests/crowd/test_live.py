"""The crowd on Kafka, as far as it needs no server. tests/integration/test_simulate.py runs it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, cast

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


class FakeProducer:
    """Keeps what it is given, with the partition."""

    def __init__(self) -> None:
        self.sent: list[tuple[Judgment, int | None]] = []

    async def send(self, _topic: object, _key: bytes, value: bytes, *, partition: int | None) -> int:
        self.sent.append((msgspec.json.decode(value, type=Judgment), partition))
        return len(self.sent)

    async def wait_for(self, sent: int) -> int:
        return sent


def test_an_answer_goes_to_the_home_of_its_campaign_and_never_comes_from_the_future() -> None:
    status = CampaignStatus(campaign="c", state="open", settings=CampaignSettings(), withdrawn=(), offset=0)
    progress, producer = CrowdProgress(status, 0, home=7), FakeProducer()
    crowd = LiveCrowd(Settings(), progress, answer, most=None, rate=None, patience=1.0, observe=lambda: None)
    crowd._producer = cast("Any", producer)
    past, future = judgment(1), judgment(2, at=datetime.now(UTC) + timedelta(hours=1))
    crowd._waiting = [(each.at, each.id, each) for each in (past, future)]
    asyncio.run(crowd._publish_due())
    (first, _), (second, home) = producer.sent
    assert first == past
    assert second.at <= datetime.now(UTC)
    assert (home, progress.last_offset) == (7, 2)
