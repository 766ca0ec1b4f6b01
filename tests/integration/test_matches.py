"""Matches and truthful answers on the real stack: a worker, two monitors, Kafka and Redis."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from streams.wire import topics
from streams.wire.events import EPOCH, CampaignSettings, Create, encode
from tests.integration.monitors import MonitorProcess, monitor_on
from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

HERE = "/campaigns/c"
SETTINGS = CampaignSettings(
    systems=tuple(f"system-{number}" for number in range(6)), segments=tuple(f"s-{number}" for number in range(60))
)


def open_campaign(stack: Stack, monitor: MonitorProcess) -> None:
    stack.start_worker()
    stack.wait_for(monitor.is_ready, "the monitor is ready")
    answer = monitor.post(f"{HERE}/commands", {"action": "create", "settings": msgspec.to_builtins(SETTINGS)})
    assert answer.status == 202
    wait_until_applied(stack, monitor, answer.json["outcome"])


def wait_until_applied(stack: Stack, monitor: MonitorProcess, place: str) -> None:
    stack.wait_for(lambda: monitor.get(place)["outcome"] == "applied", f"{place} is applied")


def requests_on(stack: Stack) -> list[dict[str, Any]]:
    return [msgspec.json.decode(value) for value in stack.values(topics.MATCH_REQUESTS)]


def test_thirty_judges_who_ask_two_monitors_at_once_all_get_a_match(stack: Stack) -> None:
    with monitor_on(stack) as one, monitor_on(stack) as other:
        open_campaign(stack, one)
        stack.wait_for(other.is_ready, "ready")
        handed: dict[str, str] = {}

        def ask(number: int) -> bool:
            answer = (one, other)[number % 2].post(f"{HERE}/next-match", {"judge": f"judge-{number}"})
            if answer.status == 200:
                handed[f"judge-{number}"] = answer.json["matches"][0]["request"]["id"]
            return answer.status == 200

        with ThreadPoolExecutor(30) as pool:
            # On a busy machine a worker may need more than the two seconds that a judge waits.
            stack.wait_for(lambda: all(pool.map(ask, range(30))), "a match for each judge")
        assert len(set(handed.values())) == 30
        assert stack.store.read_meta("c").status.demand == 32  # type: ignore[union-attr]


def test_a_withdrawal_over_http_cancels_what_a_judge_holds(stack: Stack) -> None:
    with monitor_on(stack) as monitor:
        open_campaign(stack, monitor)
        body = {"judge": "alice", "count": 8}
        held = [match["request"] for match in monitor.post(f"{HERE}/next-match", body).json["matches"]]
        gone = held[0]["systems"][0]
        answer = monitor.post(f"{HERE}/commands", {"action": "withdraw", "system": gone})
        wait_until_applied(stack, monitor, answer.json["outcome"])
        again = [match["request"] for match in monitor.post(f"{HERE}/next-match", body).json["matches"]]
        kept = [request for request in held if gone not in request["systems"]]
        assert again[: len(kept)] == kept
        assert len(again) == 8
        assert not [request for request in again if gone in request["systems"]]
        ended = {request["id"] for request in held} - {request["id"] for request in kept}
        stack.wait_for(
            lambda: {request["id"] for request in requests_on(stack) if request["cancelled"]} >= ended,
            "the cancelled requests are sent",
        )
        refused = monitor.post(
            f"{HERE}/judgments",
            {"id": "1", "segment": "s-1", "judge": "alice", "systems": ["system-0", "nobody"], "ranks": [1, 2]},
        )
        assert (refused.status, refused.json["error"]["reason"]) == (422, "unknown_system")
        excluding = {"action": "exclude", "judge": "alice"}
        assert monitor.post(f"{HERE}/commands", excluding).json["error"]["reason"] == "unknown_judge"
        first = {"id": "2", "segment": "s-1", "judge": "alice", "systems": ["system-0", "system-1"], "ranks": [1, 2]}
        wait_until_applied(stack, monitor, monitor.post(f"{HERE}/judgments", first).json["outcome"].format(id="2"))
        assert monitor.post(f"{HERE}/commands", excluding).status == 202
        stack.wait_for(lambda: monitor.post(f"{HERE}/next-match", body).status == 403, "alice is excluded")
        closing = monitor.post(f"{HERE}/commands", {"action": "close"})
        wait_until_applied(stack, monitor, closing.json["outcome"])
        assert monitor.post(f"{HERE}/next-match", {"judge": "bob"}).status == 409


def test_a_rejection_is_found_by_the_id_of_its_command(stack: Stack) -> None:
    with monitor_on(stack) as monitor:
        open_campaign(stack, monitor)
        answer = monitor.post(f"{HERE}/commands", {"action": "add", "system": "system-0"})
        place = answer.json["outcome"]
        stack.wait_for(lambda: monitor.get(place)["outcome"] == "rejected", "the refusal")
        assert monitor.get(place)["rejection"]["judgment"] == answer.json["id"]


MANY = CampaignSettings(systems=tuple(f"system-{number}" for number in range(120)), outstanding=20)
DYING = """
import os, signal
from streams.cli.main import main
from streams.stores.redis.store import RedisStore

amend = RedisStore.amend

def amend_and_die(store, lease, change):
    if os.environ["DIES"] == "after":
        amend(store, lease, change)
    os.kill(os.getpid(), signal.SIGKILL)

RedisStore.amend = amend_and_die
main()
"""


@pytest.mark.parametrize("dies", ["before", "after"])
def test_kill_9_around_the_choice_among_many_systems_loses_and_doubles_no_request(stack: Stack, dies: str) -> None:
    create = Create(id="create", campaign="many", at=EPOCH, settings=MANY)
    stack.publish([(b"many", encode(create))])
    worker = stack.start_worker(script=DYING, DIES=dies)
    worker.process.wait(60.0)
    assert requests_on(stack) == []
    stack.start_worker()
    stack.wait_for(lambda: len(requests_on(stack)) >= MANY.outstanding, "the requests are there")
    stack.wait_for(lambda: bool(stack.values(topics.LEADERBOARDS)), "a leaderboard, which comes after them")
    sent = [request["id"] for request in requests_on(stack)]
    meta = stack.store.read_meta("many")
    assert meta is not None
    assert sent == [request.id for request in meta.outstanding]
    assert len(set(sent)) == MANY.outstanding
