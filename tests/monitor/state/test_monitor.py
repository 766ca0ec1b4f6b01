"""The monitor's own state: what it does when the store fails, lies or is away, and when names are made up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from streams.core.campaign.read_only import ReadOnlyCampaign
from streams.errors import StoreUnavailable
from streams.monitor.backends.embedded import EmbeddedBackend
from streams.monitor.state import monitor as module
from streams.monitor.state.monitor import Monitor
from streams.monitor.state.snapshot import CampaignSnapshot
from streams.pipeline.embedded import Embedded
from streams.stores.memory import MemoryStore
from streams.wire.events import Rejection
from tests.builders import crowd_log, judgment
from tests.monitor.site import Running
from tests.waiting import wait_for


def store_of(monitor: Running) -> MemoryStore:
    store = monitor.site.monitor.backend.store
    assert isinstance(store, MemoryStore)
    return store


def test_a_campaign_that_can_not_be_read_is_said_to_be_and_the_others_go_on(
    monitor: Running, caplog: pytest.LogCaptureFixture
) -> None:
    monitor.publish(judgment(1, campaign="broken"))
    store_of(monitor)._campaigns["broken"].meta = b"{}"
    monitor.publish(judgment(2, campaign="sound"))
    answer = monitor.ask("/campaigns/broken/leaderboard")
    assert answer.status == 503
    assert "can't be read" in answer.json["error"]["message"]
    wait_for(lambda: "can't be read" in caplog.text)
    shown = {each["campaign"]: each["problem"] for each in monitor.get("/campaigns")["campaigns"]}
    assert shown["sound"] is None
    assert "can't be read" in shown["broken"]
    assert monitor.ask("/healthz").status == 200


def test_while_the_store_is_away_the_last_snapshot_is_used(monitor: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monitor.publish(judgment(1))
    before = monitor.get("/campaigns/c/judges")

    def away(*_: object) -> None:
        raise StoreUnavailable("Redis does not answer")

    for name in ("read_head", "read", "list_campaigns"):
        monkeypatch.setattr(store_of(monitor), name, away)
    watched = monitor.site.monitor.known("c")
    assert watched is not None
    watched.read_at = -1e9
    assert monitor.get("/campaigns/c/judges") == before
    answer = monitor.ask("/campaigns/other/judges")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "2")


def test_a_task_that_ended_is_told_to_who_would_restart_the_monitor(
    monitor: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> list[str]:
        raise ZeroDivisionError

    assert monitor.ask("/healthz").status == 200
    monkeypatch.setattr(store_of(monitor), "list_campaigns", broken)
    monkeypatch.setattr(module, "DISCOVERY_SECONDS", 0.0)
    wait_for(lambda: monitor.ask("/healthz").status == 503)
    assert b"following has ended: ZeroDivisionError()" in monitor.ask("/healthz").body


def test_made_up_campaigns_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OUTPUTS", 10)
    monitor = Monitor(EmbeddedBackend(Embedded()))
    rejection = Rejection(
        id="1", reason="empty", field=None, message="", original=b"", topic="judgments.v1", partition=0, offset=0
    )
    for number in range(100):
        monitor.on_rejection(f"name-{number}", rejection, at=datetime.now(UTC))
    assert len(monitor._outputs) == 10
    assert monitor.outputs("name-99").rejections.total == 1


def test_a_rejection_that_comes_again_counts_once() -> None:
    async def run() -> int:
        backend = EmbeddedBackend(Embedded())
        monitor = Monitor(backend)
        await monitor.start()
        try:
            for entry in crowd_log(3):
                await backend.publish([entry])
            await backend.work(lambda: backend.stream.log.append("judgments.v1", b"campaign-0", b"{}"))
            (record,) = backend.stream.log.all("rejected.v1")
            await backend.work(lambda: backend.stream.log.append("rejected.v1", record.key, record.value))
            return monitor.outputs("campaign-0").rejections.total
        finally:
            await monitor.stop()

    assert asyncio.run(run()) == 1


def test_a_large_leaderboard_is_not_made_again_while_workers_send_theirs(
    monitor: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor.publish(*crowd_log(20))
    monitor.get("/campaigns/campaign-0/leaderboard")
    watched = monitor.site.monitor.known("campaign-0")
    assert watched is not None
    store = store_of(monitor)
    sent = replace(watched.board, offset=watched.board.offset - 1)
    watched.published, watched.published_at = sent, 1000.0
    assert watched.large_board(1001.0) is None  # a small one is made in no time
    watched.board_cost = 1.0
    assert watched.large_board(1001.0) is sent
    assert watched.large_board(1100.0) is None  # the workers are silent
    watched.stale = True
    assert watched.large_board(1001.0) is None

    made = CampaignSnapshot.read(store, "campaign-0")
    assert made is not None
    assert made.leaderboard.offset == watched.board.offset
    assert made.board_cost is not None
    monkeypatch.setattr(ReadOnlyCampaign, "leaderboard", lambda _: pytest.fail("it was made"))
    taken = CampaignSnapshot.read(store, "campaign-0", sent)
    assert taken is not None
    assert (taken.leaderboard, taken.board_cost) == (sent, None)
