"""The rater chooses match requests of many systems beside the rating of batches."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from streams.core.campaign.request_choice import RequestDraft
from streams.errors import StoreUnavailable
from streams.pipeline.record import Record, RecordBlock
from streams.stores.memory import MemoryStore
from streams.wire.events import CampaignSettings, Create, encode
from streams.worker import retrying
from streams.worker.batches import PartitionBatch
from tests.builders import NOON, judgment
from tests.worker.test_late import Sent, opened

if TYPE_CHECKING:
    from streams.core.campaign.request_choice import ChosenRequests
    from streams.core.campaign.state import CampaignChange
    from streams.stores import Lease
    from streams.worker.ownership import PartitionOwnership

SETTINGS = CampaignSettings(systems=tuple(f"system-{number:03}" for number in range(120)), outstanding=10)
CREATE = encode(Create(id="create", campaign="large", at=NOON, settings=SETTINGS))


def created(ownership: PartitionOwnership) -> PartitionBatch:
    return PartitionBatch(ownership, 0, RecordBlock.of([Record(0, b"large", CREATE)]))


def small(ownership: PartitionOwnership) -> PartitionBatch:
    return PartitionBatch(ownership, 1, RecordBlock.of([Record(1, b"small", encode(judgment(1, campaign="small")))]))


def test_another_campaign_is_rated_while_they_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    is_choosing, may_go_on, choose = threading.Event(), threading.Event(), RequestDraft.choose

    def choose_slowly(draft: RequestDraft) -> ChosenRequests:
        if draft.status.campaign == "large":
            is_choosing.set()
            assert may_go_on.wait(30.0)
        return choose(draft)

    monkeypatch.setattr(RequestDraft, "choose", choose_slowly)

    async def run() -> None:
        sent, ownership = Sent(), opened(MemoryStore())
        work = sent.rater()
        await work.rate(created(ownership))
        choosing = asyncio.create_task(work.choose_requests(ownership))
        await asyncio.to_thread(is_choosing.wait, 30.0)
        await work.rate(small(ownership))
        rated = [value for value in sent.of("ratings.v1") if b'"small"' in value]
        assert rated
        may_go_on.set()
        await choosing
        large = [value for value in sent.of("match-requests.v1") if b'"large"' in value]
        assert len(large) == SETTINGS.outstanding
        assert not ownership.processor.requests.are_awaited

    asyncio.run(run())


def test_while_the_store_is_away_they_are_neither_lost_nor_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_PAUSE_SECONDS", 0.001)

    class Away(MemoryStore):
        """It does not answer twice, and the second time it has written."""

        attempts = 0

        def amend(self, lease: Lease, change: CampaignChange) -> None:
            Away.attempts += 1
            if Away.attempts != 1:
                super().amend(lease, change)
            if Away.attempts < 3:
                assert sent.of("match-requests.v1") == []
                raise StoreUnavailable("away")

    sent = Sent()

    async def run() -> None:
        store = Away()
        ownership = opened(store)
        work = sent.rater()
        await work.rate(created(ownership))
        await work.choose_requests(ownership)
        meta = store.read_meta("large")
        assert meta is not None
        assert len(meta.outstanding) == len(sent.of("match-requests.v1")) == SETTINGS.outstanding
        await work.verify(ownership, ownership.processor)

    asyncio.run(run())
