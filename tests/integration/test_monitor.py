"""The monitor beside workers on the real stack: from the door to the page, and through its servers' absences."""

from __future__ import annotations

import json
from contextlib import suppress
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from deploy.ports import free_port
from deploy.servers import Servers
from streams.core.campaign.campaign import Campaign
from streams.core.campaign.pseudonyms import Pseudonyms
from streams.monitor.ledger.redis import RedisLedger
from streams.settings import Settings
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log
from tests.faults.proxy import Proxy
from tests.integration.monitors import MonitorProcess, monitor_on
from tests.integration.stack import Stack
from tests.monitor.site import Answer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

NAME = "campaign-0"
HERE = f"/campaigns/{NAME}"


def post(monitor: MonitorProcess, *judgments: Judgment) -> Answer:
    return monitor.post(f"{HERE}/judgments", [json.loads(encode(each)) for each in judgments])


def judgments_on(monitor: MonitorProcess) -> int:
    answer = monitor.ask(f"{HERE}/leaderboard")
    return int(answer.json["judgments"]) if answer.status == 200 else -1


def leaderboard_of(stack: Stack) -> Any:
    """Rank what Redis holds."""
    stored = stack.store.read(NAME)
    assert stored is not None
    return json.loads(encode(Campaign.restore(NAME, stored).leaderboard()))


def test_what_is_posted_through_the_door_is_on_the_leaderboard_by_api_and_by_event(stack: Stack) -> None:
    worker = stack.start_worker()
    log = crowd_log(200)
    with monitor_on(stack) as monitor:
        stack.wait_for(monitor.is_ready, "the monitor is ready")
        assert post(monitor, *log[:100]).json["accepted"] == 100
        stack.wait_for(lambda: judgments_on(monitor) == 100, "the first 100 are on the leaderboard")
        with monitor.events(f"{HERE}/events") as events:
            first = next(events)
            assert (first.event, first.data["judgments"]) == ("leaderboard", 100)
            assert post(monitor, *log[50:]).json["accepted"] == 150  # 50 of them again
            seen = next(event for event in events if event.event == "rows" and event.data["judgments"] == 200)
            assert seen.data["rows"]
        assert monitor.get(f"{HERE}/leaderboard")["rows"] == leaderboard_of(stack)["rows"]
        stack.wait_for(lambda: monitor.get(HERE)["duplicates"] == 50, "the monitor has read the duplicates")

        def total(name: str) -> int:
            return sum(partition[name] for partition in monitor.get("/status")["partitions"])

        stack.wait_for(lambda: total("applied") == 250, "applied")
        assert total("lag") == 0
        bad = crowd_log(1)[0]
        stack.publish([(NAME.encode(), encode(bad).replace(b'"ranks"', b'"rank"'))])
        stack.wait_for(lambda: monitor.get(f"{HERE}/rejections")["total"] == 1, "the rejection is shown")
        assert monitor.get(f"{HERE}/rejections")["latest"][0]["field"] == "ranks"
        assert "judgestream_monitor_judgments_published_total 250.0" in monitor.ask("/metrics").body.decode()
        worker.terminate()
        post(monitor, *crowd_log(210)[200:])
        stack.wait_for(lambda: total("lag") == 10, "what no worker reads is lag")


def test_a_monitor_that_is_killed_comes_back_with_the_same_history(stack: Stack) -> None:
    stack.start_worker()
    port = free_port()
    log = crowd_log(90)
    ledger = RedisLedger(stack.store.client, namespace=stack.settings.namespace)
    with monitor_on(stack, port=port) as monitor:
        stack.wait_for(monitor.is_ready, "the monitor is ready")
        for start in range(0, 90, 30):
            post(monitor, *log[start : start + 30])
            stack.wait_for(lambda count=start + 30: judgments_on(monitor) == count, "applied")  # type: ignore[misc]
            stack.wait_for(
                lambda count=start + 30: [each.judgments for each in ledger.samples(NAME)][-1:] == [count],  # type: ignore[misc]
                "noted in the history",
            )
        before = monitor.get(f"{HERE}/history")["samples"]
        assert len(before) >= 3
        with monitor.events(f"{HERE}/events") as events:
            next(events)
            monitor.kill()
            with suppress(OSError, HTTPException):
                list(events)  # it ends
    with monitor_on(stack, port=port) as monitor:
        # No readiness is waited for: a cold monitor has the leaderboard at once.
        assert judgments_on(monitor) == 90
        after = monitor.get(f"{HERE}/history")["samples"]
        assert [sample["sequence"] for sample in after] == [sample["sequence"] for sample in before]
        assert after[:-1] == before[:-1]


def test_two_monitors_share_leases_and_history_and_know_judges_by_pseudonym_only(stack: Stack) -> None:
    stack.start_worker()
    log = crowd_log(60)
    with monitor_on(stack) as one, monitor_on(stack) as other:
        for monitor in (one, other):
            stack.wait_for(monitor.is_ready, "ready")
        post(one, *log)
        for monitor in (one, other):
            stack.wait_for(lambda here=monitor: judgments_on(here) == 60, "both know")  # type: ignore[misc]

        def next_match(monitor: MonitorProcess, judge: str) -> Answer:
            return monitor.post(f"{HERE}/next-match", {"judge": judge})

        def request_of(answer: Answer) -> Any:
            return answer.json["matches"][0]["request"]

        stack.wait_for(lambda: next_match(one, "alice").status == 200, "a match")
        alice, again, bob = next_match(one, "alice"), next_match(other, "alice"), next_match(other, "bob")
        assert request_of(alice) == request_of(again) != request_of(bob)
        request = request_of(alice)
        answer = msgspec.structs.replace(
            log[0],
            id="answer",
            judge="alice",
            systems=tuple(request["systems"]),
            segment=request["segment"],
            request=request["id"],
        )
        post(other, answer)
        assert request_of(next_match(one, "alice"))["id"] != request["id"]
        stack.wait_for(lambda: judgments_on(one) == 61, "the answer counts")
        stack.wait_for(
            lambda: request["id"] not in {each["id"] for each in one.get(f"{HERE}/requests")["requests"]}, "answered"
        )
        histories = [monitor.get(f"{HERE}/history")["samples"][:-1] for monitor in (one, other)]
        assert histories[0] == histories[1]
        keys = str(stack.store.client.redis.keys(f"*{stack.settings.namespace}*"))
        assert Pseudonyms(stack.settings.judge_key.encode())["alice"] in keys
        assert "alice" not in keys
        for monitor in (one, other):
            assert "alice" not in monitor.log.read_text()


def test_while_redis_is_away_the_page_keeps_what_it_had_and_says_so(stack: Stack) -> None:
    stack.start_worker()
    address, _, port = stack.settings.redis.rpartition("@")
    number = int(port.partition(":")[2].partition("/")[0])
    with Proxy(number) as proxy:
        redis = f"{address}@127.0.0.1:{proxy.port}/0"
        with monitor_on(stack, JUDGESTREAM_REDIS=redis) as monitor:
            stack.wait_for(monitor.is_ready, "ready")
            post(monitor, *crowd_log(40))
            stack.wait_for(lambda: judgments_on(monitor) == 40, "the first 40")
            with proxy.blackhole():
                stack.wait_for(lambda: not monitor.is_ready(), "not ready")
                assert b"Waiting for Redis" in monitor.ask("/readyz").body
                assert monitor.ask("/healthz").status == 200
                assert judgments_on(monitor) == 40
                assert post(monitor, *crowd_log(60)).status == 202  # the broker is there
                # Kafka goes on telling of leaderboards.
                stack.wait_for(lambda: judgments_on(monitor) == 60, "60 from the log")
                unknown = monitor.ask("/campaigns/unknown/leaderboard")
                assert (unknown.status, unknown.json["error"]["reason"]) == (503, "unavailable")
                assert monitor.get("/status")["ready"] is False
            stack.wait_for(monitor.is_ready, "ready again")
            stack.wait_for(lambda: monitor.get(HERE)["judges"] == 7, "looked again")


@pytest.fixture
def own(tmp_path: Path) -> Any:
    running = Servers(tmp_path / "servers")
    try:
        yield running
    finally:
        running.kill()


def test_while_kafka_is_away_posts_are_refused_and_reads_go_on(own: Servers, tmp_path: Path) -> None:
    addresses = own.start()
    settings = Settings(
        kafka=addresses["JUDGESTREAM_KAFKA"],
        redis=addresses["JUDGESTREAM_REDIS"],
        judge_key="a key for tests",
        partitions=2,
        snapshot_seconds=0.5,
        session_timeout_seconds=6,
    )
    stack = Stack(settings, tmp_path)
    log = crowd_log(80)
    try:
        stack.start_worker()
        with monitor_on(stack) as monitor:
            stack.wait_for(monitor.is_ready, "ready")
            post(monitor, *log[:40])
            stack.wait_for(lambda: judgments_on(monitor) == 40, "the first 40")
            own.kill("kafka")
            refused = post(monitor, *log[40:])
            assert (refused.status, refused.json["error"]["reason"]) == (503, "unavailable")
            stack.wait_for(lambda: b"Waiting for Kafka" in monitor.ask("/readyz").body, "it says so")
            assert judgments_on(monitor) == 40
            own.start("kafka")
            stack.wait_for(monitor.is_ready, "ready again")
            stack.wait_for(lambda: post(monitor, *log[40:]).status == 202, "taken")
            stack.wait_for(lambda: judgments_on(monitor) == 80, "all, and each once")
    finally:
        stack.stop()


def test_a_monitor_starts_without_its_servers_and_says_what_it_waits_for(stack: Stack) -> None:
    nowhere = "127.0.0.1:9"
    with monitor_on(stack, JUDGESTREAM_KAFKA=nowhere, JUDGESTREAM_REDIS=f"redis://{nowhere}/0") as monitor:
        stack.wait_for(lambda: monitor.ask("/readyz").body.count(b"does not answer") == 2, "both are named")
        assert monitor.get("/campaigns")["campaigns"] == []
        assert monitor.ask("/").status == 200
