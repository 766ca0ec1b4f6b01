"""Matches on a lease: who gets which, and who gets none."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from streams.core.campaign.pseudonyms import Pseudonyms
from streams.monitor.http.demand import find_demand
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import (
    CampaignSettings,
    Change,
    Close,
    Command,
    Create,
    Demand,
    ExcludeJudge,
    Pause,
    Resume,
    WithdrawSystem,
)
from tests.builders import NOON
from tests.monitor.site import TOKEN, TOKENS, Answer, Running, running
from tests.waiting import PATIENCE_SECONDS, wait_for

PATH = "/campaigns/c/judgments"
SYSTEMS = tuple(f"system-{number}" for number in range(8))
LISTED = CampaignSettings(systems=SYSTEMS, segments=tuple(f"s-{number}" for number in range(50)), outstanding=8)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a judge wait for a match as long as a busy machine needs."""
    monkeypatch.setattr("streams.monitor.http.matches.WAIT_SECONDS", PATIENCE_SECONDS)


def opened(settings: CampaignSettings = LISTED, **changes: Any) -> Create:
    return Create(id="create", campaign="c", at=NOON, settings=msgspec.structs.replace(settings, **changes))


def next_match(monitor: Running, judge: str, **more: Any) -> Answer:
    return monitor.post("/campaigns/c/next-match", {"judge": judge, **more})


def held(monitor: Running, judge: str, **more: Any) -> list[dict[str, Any]]:
    answer = next_match(monitor, judge, **more)
    assert answer.status == 200, answer
    return [match["request"] for match in answer.json["matches"]]


def reply(number: int, request: dict[str, Any], judge: str, **verdict: Any) -> dict[str, Any]:
    return {
        "id": f"answer-{number}",
        "segment": request["segment"],
        "judge": judge,
        "systems": request["systems"],
        "request": request["id"],
        **(verdict or {"ranks": [1, 2]}),
    }


def test_two_judges_get_two_matches_and_one_judge_the_same_again(monitor: Running) -> None:
    monitor.publish(opened())
    alice, again, bob = (held(monitor, judge) for judge in ("alice", "alice", "bob"))
    assert alice == again != bob
    outstanding = {request["id"]: request for request in monitor.get("/campaigns/c/requests")["requests"]}
    assert outstanding[alice[0]["id"]]["leased_until"] is not None
    assert len([request for request in outstanding.values() if request["leased_until"]]) == 2


def test_who_answers_gets_another_match(monitor: Running) -> None:
    monitor.publish(opened())
    handed = []
    for number in range(12):
        (request,) = held(monitor, "alice")
        handed.append((request["segment"], *sorted(request["systems"])))
        assert monitor.post(PATH, reply(number, request, "alice")).status == 202
    assert len(set(handed)) == 12


def test_a_judge_gets_a_system_to_score(monitor: Running) -> None:
    settings = CampaignSettings(
        model="assessment", systems=("a", "b"), segments=("s1", "s2", "s3"), score_range=(1.0, 7.0), outstanding=2
    )
    monitor.publish(opened(settings))
    handed = []
    for number in range(6):
        (request,) = held(monitor, "alice")
        handed.append((request["systems"][0], request["segment"]))
        assert monitor.post(PATH, reply(number, request, "alice", score=1 + number)).status == 202
    assert sorted(handed) == [(system, segment) for system in "ab" for segment in ("s1", "s2", "s3")]


def test_a_judge_may_take_several(monitor: Running) -> None:
    monitor.publish(opened())
    first = held(monitor, "alice")
    several = held(monitor, "alice", count=4)
    assert several[:1] == first
    assert len({request["id"] for request in several}) == 4
    assert not {request["id"] for request in several} & {request["id"] for request in held(monitor, "bob", count=4)}


@pytest.mark.parametrize(("way", "again"), [("return", True), ("skip", False)])
def test_a_judge_gives_one_back(monitor: Running, way: str, again: bool) -> None:
    monitor.publish(opened())
    (request,) = held(monitor, "alice")
    body = {"judge": "alice", "request": request["id"]}
    path = f"/campaigns/c/matches/{way}"
    stolen = monitor.post(path, body | {"judge": "bob"})
    assert (stolen.status, stolen.json["error"]["reason"]) == (404, "not_held")
    assert monitor.post(path, body).status == 204
    assert monitor.post(path, body).status == 404
    assert (held(monitor, "alice") == [request]) == again
    if again:
        monitor.post(path, body)
    assert held(monitor, "bob") == [request]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "judge"),
        ({"judge": ""}, "judge"),
        ({"judge": "x" * 201}, "judge"),
        ({"judge": 7}, "judge"),
        ({"judge": "alice", "count": 0}, "count"),
        ({"judge": "alice", "count": 21}, "count"),
        ([], None),
        (b"alice", None),
    ],
)
def test_a_match_is_for_a_judge_with_a_name(monitor: Running, body: object, field: str | None) -> None:
    monitor.publish(opened())
    answer = monitor.post("/campaigns/c/next-match", body)
    assert (answer.status, answer.json["error"]["field"]) == (422, field)
    assert b"alice" not in answer.body
    assert b"xxx" not in answer.body


def test_a_judge_never_stands_in_a_url(monitor: Running) -> None:
    answer = monitor.ask("/campaigns/c/next-match?judge=alice", headers=TOKEN)
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert "POST" in answer.json["error"]["message"]


def test_a_judge_is_kept_by_pseudonym_only(monitor: Running) -> None:
    monitor.publish(opened())
    held(monitor, "alice\n\0\x1b")
    kept = repr(vars(monitor.site.monitor.backend.ledger))
    assert "alice" not in kept
    assert Pseudonyms(b"a key for tests")["alice\n\0\x1b"] in kept


def test_without_the_judge_key_no_matches_are_given_out() -> None:
    with running(Settings(monitor_tokens=TOKENS)) as monitor:
        monitor.publish(opened())
        answer = next_match(monitor, "alice")
        assert answer.status == 503
        assert "JUDGESTREAM_JUDGE_KEY" in answer.json["error"]["message"]


# -- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "status", "reason"),
    [
        (ExcludeJudge(id="x", campaign="c", at=NOON, judge="alice"), 403, "judge_excluded"),
        (Pause(id="x", campaign="c", at=NOON), 409, "campaign_paused"),
        (Close(id="x", campaign="c", at=NOON), 409, "campaign_closed"),
    ],
)
def test_who_held_a_match_gets_none_after_a_command(
    monitor: Running, command: Command, status: int, reason: str
) -> None:
    monitor.publish(opened())
    held(monitor, "alice")
    monitor.publish(command)
    answer = next_match(monitor, "alice")
    assert (answer.status, answer.json["error"]["reason"]) == (status, reason)


def test_a_match_with_a_withdrawn_system_is_never_handed_out(monitor: Running) -> None:
    monitor.publish(opened())
    (before,) = held(monitor, "alice")
    gone = before["systems"][0]
    monitor.publish(WithdrawSystem(id="x", campaign="c", at=NOON, system=gone))
    seen = [request for judge in ("alice", "bob", "carol") for request in held(monitor, judge, count=2)]
    assert len(seen) == 6
    assert not [request for request in seen if gone in request["systems"]]
    records = [record.value or b"" for record in monitor.stream.log.all(topics.MATCH_REQUESTS.name)]
    cancelled = [record for record in map(msgspec.json.decode, records) if record["cancelled"]]
    assert before["id"] in {record["id"] for record in cancelled}
    assert all(gone in record["systems"] for record in cancelled)


def test_after_a_pause_there_are_new_matches(monitor: Running) -> None:
    monitor.publish(opened())
    before = held(monitor, "alice")
    monitor.publish(Pause(id="x", campaign="c", at=NOON), Resume(id="y", campaign="c", at=NOON))
    assert held(monitor, "alice") == before  # in one batch, nothing has happened
    monitor.publish(Pause(id="z", campaign="c", at=NOON))
    monitor.publish(Resume(id="w", campaign="c", at=NOON))
    assert held(monitor, "alice")[0]["id"] != before[0]["id"]


def test_the_matches_of_an_excluded_judge_are_free_for_others(monitor: Running) -> None:
    monitor.publish(opened(budget=2))  # so there are two matches
    taken = held(monitor, "alice", count=2)
    assert next_match(monitor, "bob").status == 404
    monitor.publish(ExcludeJudge(id="x", campaign="c", at=NOON, judge="alice"))
    assert held(monitor, "bob", count=2) == taken


# -- demand ----------------------------------------------------------------------------------------------


def demands(monitor: Running) -> list[int]:
    found = [msgspec.json.decode(record.value or b"") for record in monitor.stream.log.all(topics.JUDGMENTS.name)]
    return [each["requests"] for each in found if each.get("action") == "demand"]


@pytest.mark.usefixtures("patient")
def test_thirty_judges_who_ask_at_once_all_get_a_match(monitor: Running) -> None:
    monitor.publish(opened())
    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(lambda number: next_match(monitor, f"judge-{number}"), range(30)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["matches"][0]["request"]["id"] for answer in answers}) == 30
    assert demands(monitor)[-1] == 32
    assert len(demands(monitor)) <= 2  # powers of two: 16, 32


def test_the_matches_that_judges_hold_count_as_demand(monitor: Running) -> None:
    monitor.publish(opened())
    for number in range(3):
        held(monitor, f"judge-{number}", count=5)
    wait_for(lambda: demands(monitor) == [16], "a demand of 16")
    assert [len(held(monitor, f"judge-{number}", count=5)) for number in range(3)] == [5, 5, 5]


@pytest.mark.usefixtures("patient")
def test_a_demand_does_not_move_the_campaign_s_clock(monitor: Running) -> None:
    """Its log is of 2019. If the clock came to the present, the matches that judges hold would expire."""
    monitor.publish(opened())
    before = [held(monitor, f"judge-{number}") for number in range(9)]
    assert demands(monitor) == [16]
    assert [held(monitor, f"judge-{number}") for number in range(9)] == before


@pytest.mark.parametrize("changes", [{"outstanding": 0}, {"budget": 4}])
def test_where_no_more_can_come_it_says_at_once_when_to_ask_again(monitor: Running, changes: dict[str, Any]) -> None:
    monitor.publish(opened(**changes))
    answers = [next_match(monitor, f"judge-{number}") for number in range(5)]
    free = changes.get("budget", 0)
    assert [answer.status for answer in answers] == [200] * free + [404] * (5 - free)
    assert answers[-1].json["error"]["reason"] == "no_match"
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert demands(monitor) == []


@pytest.mark.long
def test_judges_without_end_drive_the_demand_to_its_bound_only() -> None:
    settings = Settings(monitor_tokens=TOKENS, judge_key="a key for tests", monitor_max_demand=20)
    with running(settings) as monitor:
        monitor.publish(opened())
        with ThreadPoolExecutor(40) as pool:
            answers = list(pool.map(lambda number: next_match(monitor, f"judge-{number}"), range(40)))
        assert [answer.status for answer in answers].count(404) >= 20
        wait_for(lambda: max(demands(monitor)) == 20, "a demand of 20")
        assert len(monitor.stream.campaign("c").outstanding) == 20


@pytest.mark.long
@pytest.mark.usefixtures("patient")
def test_the_demand_falls_when_the_judges_have_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.monitor.http.demand.CHECK_SECONDS", 0.05)
    settings = Settings(monitor_tokens=TOKENS, judge_key="a key for tests", monitor_lease_seconds=1)
    with running(settings) as monitor:
        monitor.publish(opened())
        for number in range(9):
            held(monitor, f"judge-{number}")
        wait_for(lambda: demands(monitor) == [16, 0], "the end of the demand")
        wait_for(lambda: not monitor.site._demand._tasks, "the end of the task")


@pytest.mark.usefixtures("patient")
def test_a_replay_of_the_log_opens_the_same_requests(monitor: Running) -> None:
    monitor.publish(opened())
    for number in range(9):
        held(monitor, f"judge-{number}")
    log = [record.value for record in monitor.stream.log.all(topics.JUDGMENTS.name)]
    again = type(monitor.stream)(monitor.stream.settings)
    for value in log:
        again.log.append(topics.JUDGMENTS.name, b"c", value)
        again.run()
    assert again.campaign("c").outstanding == monitor.stream.campaign("c").outstanding


def test_an_operator_may_still_choose_the_number(monitor: Running) -> None:
    monitor.publish(opened(), Demand(id="x", campaign="c", at=NOON, requests=20))
    assert len(monitor.stream.campaign("c").outstanding) == 20
    monitor.publish(Change(id="y", campaign="c", at=NOON, settings={"outstanding": 25}))
    assert len(monitor.stream.campaign("c").outstanding) == 25


@pytest.mark.parametrize(("asking", "most", "demand"), [(8, 100, 0), (9, 100, 16), (17, 100, 32), (90, 100, 100)])
def test_the_demand_goes_in_powers_of_two(asking: int, most: int, demand: int) -> None:
    assert find_demand(asking, outstanding=8, most=most) == demand
    assert find_demand(asking, outstanding=0, most=most) == 0
