"""The way in: judgments by HTTP, and matches on a lease."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from streams.core.campaign.pseudonyms import Pseudonyms, wire_pseudonym
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import CampaignSettings, Close, Create, Judgment, encode
from tests.builders import NOON, crowd_log, judgment
from tests.formats.samples import WEBHOOK
from tests.monitor.site import JSON, SECRET, TOKEN, TOKENS, Running, running

PATH = "/campaigns/c/judgments"


def plain(entry: Judgment, **changes: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(encode(entry)) | changes
    return {name: value for name, value in found.items() if value is not None}


def in_the_log(monitor: Running) -> list[Judgment]:
    records = monitor.stream.log.all(topics.JUDGMENTS.name)
    return [msgspec.json.decode(record.value or b"", type=Judgment) for record in records]


def by_pseudonym(*judgments: Judgment) -> list[Judgment]:
    """Return judgments as the monitor publishes them."""
    return list(map(Pseudonyms(b"a key for tests").replace_judge, judgments))


LOG = [judgment(number) for number in range(3)]


@pytest.mark.parametrize(
    ("body", "content", "count"),
    [
        (plain(LOG[0]), "application/json", 1),
        ([plain(each) for each in LOG], "application/json", 3),
        ({"judgments": [plain(each) for each in LOG]}, "application/json; charset=utf-8", 3),
        (b"\n".join(encode(each) for each in LOG) + b"\n\n", "application/x-ndjson", 3),
    ],
)
def test_judgments_come_in_any_form_and_stand_in_the_log_when_it_answers(
    monitor: Running, body: object, content: str, count: int
) -> None:
    answer = monitor.post(PATH, body, **{"Content-Type": content})
    assert (answer.status, answer.json) == (200, {"accepted": count, "ids": [each.id for each in LOG[:count]]})
    assert in_the_log(monitor) == by_pseudonym(*LOG[:count])


def test_campaign_time_and_version_may_be_left_out(monitor: Running) -> None:
    answer = monitor.post(PATH, plain(LOG[0], campaign=None, at=None, version=None))
    assert answer.status == 200
    (found,) = in_the_log(monitor)
    assert (found.campaign, found.version) == ("c", "1")
    assert found.at > NOON


def test_the_same_id_twice_counts_once(monitor: Running) -> None:
    for _ in range(2):
        assert monitor.post(PATH, plain(LOG[0])).json["accepted"] == 1
    assert monitor.get("/campaigns/c")["judgments"] == 1


@pytest.mark.parametrize(
    ("body", "reason", "field"),
    [
        (b"", "empty", None),
        (b"[]", "empty", None),
        (b"{", "invalid_json", None),
        (b"nonsense", "invalid_json", None),
        (b"\xff", "invalid_utf8", None),
        (b'{"judgments": 3}', "invalid_value", "judgments"),
        (b"[3]", "invalid_value", "judgments[0]"),
        (b"[[[]]]", "invalid_value", "judgments[0]"),
        (b"{}", "missing_field", "id"),
        ([plain(LOG[0]), plain(LOG[1], ranks=[1])], "length_mismatch", "judgments[1].ranks"),
        ([plain(LOG[0]), plain(LOG[1], ranks=[1, "x"])], "invalid_value", "judgments[1].ranks[1]"),
        (plain(LOG[0], ranks=[1, "x"]), "invalid_value", "ranks[1]"),
        (plain(LOG[0], campaign="other"), "invalid_value", "campaign"),
        (plain(LOG[0], campaign=7), "invalid_value", "campaign"),
        (plain(LOG[0], systems=["a", "a"]), "duplicate_system", "systems"),
        (plain(LOG[0], version="2"), "unknown_version", "version"),
        ({"action": "close", "id": "1", "campaign": "c", "at": "2026-01-01T00:00:00Z"}, "invalid_value", "action"),
        (b'{"x":' * 200 + b"1" + b"}" * 200, "too_deep", None),
        (b"[" * 100_000, "too_deep", None),
    ],
)
def test_what_is_no_judgment_is_refused_with_the_field_and_nothing_is_taken(
    monitor: Running, body: object, reason: str, field: str | None
) -> None:
    answer = monitor.post(PATH, body)
    assert answer.status == 422
    error = answer.json["error"]
    assert (error["reason"], error["field"]) == (reason, field)
    assert error["message"]
    assert in_the_log(monitor) == []


def test_a_judge_s_id_is_not_repeated_in_an_error(monitor: Running) -> None:
    answer = monitor.post(PATH, plain(LOG[0], judge="alice@example.org" + "x" * 200))
    assert answer.status == 422
    assert b"alice" not in answer.body


@pytest.mark.parametrize("name", ["..%2F..%2Fetc", "a%20b", "%F0%9F%92%A9"])
@pytest.mark.parametrize(("way", "body"), [("judgments", plain(LOG[0], campaign=None)), ("label-studio", WEBHOOK)])
def test_a_campaign_with_a_wrong_name_can_not_be_opened(monitor: Running, name: str, way: str, body: object) -> None:
    answer = monitor.post(f"/campaigns/{name}/{way}", body)
    assert (answer.status, answer.json["error"]["field"]) == (422, "campaign")


def test_a_closed_campaign_takes_no_more(monitor: Running) -> None:
    monitor.publish(*LOG, Close(id="x", campaign="c", at=NOON))
    monitor.get("/campaigns/c")
    answer = monitor.post(PATH, plain(judgment(9)))
    assert (answer.status, answer.json["error"]["reason"]) == (409, "campaign_closed")


def test_other_content_is_refused(monitor: Running) -> None:
    answer = monitor.post(PATH, b"id=1", **{"Content-Type": "application/x-www-form-urlencoded"})
    assert (answer.status, answer.json["error"]["reason"]) == (415, "unsupported_type")


def test_a_body_that_is_too_long_is_refused() -> None:
    settings = Settings(monitor_tokens=TOKENS, monitor_body_bytes=1000)
    with running(settings) as monitor:
        answer = monitor.post(PATH, [plain(each) for each in crowd_log(100)])
        assert (answer.status, answer.json["error"]["reason"]) == (413, "too_large")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {SECRET}"},
        {"Authorization": f"Bearer {SECRET}x"},
        {"Authorization": f"Bearer {SECRET[:-1]}"},
        {"Authorization": "Bearer ümlaut"},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", PATH), ("POST", "/campaigns/c/label-studio"), ("GET", "/campaigns/c/next-match")]
)
def test_writing_needs_a_token(monitor: Running, method: str, path: str, headers: dict[str, str]) -> None:
    answer = monitor.ask(path, method=method, body=b"{}", headers=headers | JSON)
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_wrong_token_is_refused_where_none_is_needed(monitor: Running) -> None:
    answer = monitor.ask("/campaigns", headers={"Authorization": f"Bearer {SECRET}x"})
    assert (answer.status, answer.json["error"]["reason"]) == (401, "wrong_token")


def test_without_tokens_nobody_writes_and_the_answer_says_what_to_set() -> None:
    with running(Settings()) as monitor:
        answer = monitor.ask(PATH, method="POST", body=b"{}", headers=JSON)
        assert answer.status == 401
        assert "JUDGESTREAM_MONITOR_TOKENS" in answer.json["error"]["message"]


# -- matches ---------------------------------------------------------------------------------------------


def next_match(monitor: Running, judge: str) -> Any:
    return monitor.ask(f"/campaigns/c/next-match?judge={judge}", headers=TOKEN)


def test_two_judges_get_two_matches_and_one_judge_the_same_again(monitor: Running) -> None:
    monitor.publish(*(judgment(number, segment=f"s-{number}") for number in range(20)))
    alice, again, bob = (next_match(monitor, judge).json for judge in ("alice", "alice", "bob"))
    assert alice["request"] == again["request"] != bob["request"]
    outstanding = {request["id"]: request for request in monitor.get("/campaigns/c/requests")["requests"]}
    assert outstanding[alice["request"]["id"]]["leased_until"] is not None
    held = [request for request in outstanding.values() if request["leased_until"]]
    assert len(held) == 2


def test_who_answers_gets_another_match(monitor: Running) -> None:
    monitor.publish(*(judgment(number, segment=f"s-{number}") for number in range(20)))
    handed = []
    for number in range(12):
        request = next_match(monitor, "alice").json["request"]
        handed.append((request["segment"], *sorted(request["systems"])))
        answer = {
            "id": f"answer-{number}",
            "segment": request["segment"],
            "judge": "alice",
            "systems": request["systems"],
            "ranks": [1, 2],
            "request": request["id"],
        }
        assert monitor.post(PATH, answer).status == 200
    assert len(set(handed)) == 12


def test_a_judge_gets_a_system_to_score_and_the_range_is_checked(monitor: Running) -> None:
    settings = CampaignSettings(
        model="assessment", systems=("a", "b"), segments=("s1", "s2", "s3"), score_range=(1.0, 7.0), outstanding=2
    )
    monitor.publish(Create(id="create", campaign="c", at=NOON, settings=settings))
    handed = []
    for number in range(6):
        request = next_match(monitor, "alice").json["request"]
        handed.append((request["systems"][0], request["segment"]))
        answer = {
            "id": f"answer-{number}",
            "segment": request["segment"],
            "judge": "alice",
            "systems": request["systems"],
            "score": 50,
            "request": request["id"],
        }
        refused = monitor.post(PATH, answer)
        assert (refused.status, refused.json["error"]["field"]) == (422, "score")
        assert "from 1 to 7" in refused.json["error"]["message"]
        assert monitor.post(PATH, answer | {"score": 1 + number}).status == 200
    assert sorted(handed) == [(system, segment) for system in "ab" for segment in ("s1", "s2", "s3")]
    assert monitor.get("/campaigns/c")["judgments"] == 6


def test_when_no_match_is_free_it_says_when_to_ask_again(monitor: Running) -> None:
    monitor.publish(*(judgment(number, segment=f"s-{number}") for number in range(20)))
    answers = [next_match(monitor, f"judge-{number}") for number in range(9)]
    assert [answer.status for answer in answers] == [200] * 8 + [404]  # `outstanding` is 8
    assert answers[-1].json["error"]["reason"] == "no_match"
    assert int(answers[-1].headers["Retry-After"]) > 0


@pytest.mark.parametrize("query", ["", "?judge=", f"?judge={'x' * 201}"])
def test_a_match_is_for_a_judge_with_a_name(monitor: Running, query: str) -> None:
    monitor.publish(*LOG)
    answer = monitor.ask(f"/campaigns/c/next-match{query}", headers=TOKEN)
    assert (answer.status, answer.json["error"]["field"]) == (422, "judge")


def test_a_judge_is_kept_by_pseudonym_only(monitor: Running) -> None:
    monitor.publish(*(judgment(number, segment=f"s-{number}") for number in range(20)))
    assert next_match(monitor, "alice%0A%00%1B").status == 200
    kept = repr(vars(monitor.site.monitor.backend.ledger))
    assert "alice" not in kept
    assert Pseudonyms(b"a key for tests")["alice\n\0\x1b"] in kept


def test_without_the_judge_key_only_pseudonyms_are_taken() -> None:
    with running(Settings(monitor_tokens=TOKENS)) as monitor:
        monitor.publish(*LOG)
        for answer in (next_match(monitor, "alice"), monitor.post(PATH, plain(judgment(4, judge="alice")))):
            assert (answer.status, answer.json["error"]["field"]) == (503, "judge")
            assert "JUDGESTREAM_JUDGE_KEY" in answer.json["error"]["message"]
            assert "alice" not in str(answer.json)
        assert in_the_log(monitor) == LOG, "what another producer has sent"
        ready_made = judgment(5, judge=wire_pseudonym("alice", "a key of the platform"))
        assert monitor.post(PATH, plain(ready_made)).status == 200
        assert in_the_log(monitor) == [*LOG, ready_made]


# -- Label Studio ----------------------------------------------------------------------------------------


def test_label_studio_s_webhook_is_taken_as_it_is(monitor: Running) -> None:
    answer = monitor.post("/campaigns/c/label-studio", WEBHOOK)
    assert (answer.status, answer.json["accepted"]) == (200, 1)
    (found,) = in_the_log(monitor)
    assert found.campaign == "c"
    assert [found.id] == answer.json["ids"]


def test_events_of_label_studio_without_a_verdict_are_passed_over(monitor: Running) -> None:
    answer = monitor.post("/campaigns/c/label-studio", {"action": "TASKS_CREATED", "project": {"id": 1}})
    assert (answer.status, answer.json) == (200, {"accepted": 0, "ids": []})


def test_a_webhook_that_is_not_label_studio_s_is_refused_with_the_field(monitor: Running) -> None:
    payload = {"action": "ANNOTATION_CREATED", "project": {"id": 1}, "task": {"data": {}}, "annotation": "no"}
    answer = monitor.post("/campaigns/c/label-studio", payload)
    assert (answer.status, answer.json["error"]["field"]) == (422, "annotation")
