"""The way in: judgments and commands by HTTP."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from streams.core.campaign.pseudonyms import Pseudonyms, wire_pseudonym
from streams.errors import StoreUnavailable
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import (
    AddSystem,
    CampaignSettings,
    Close,
    Command,
    Create,
    ExcludeJudge,
    Judgment,
    Pause,
    encode,
)
from tests.builders import NOON, crowd_log, judgment
from tests.formats.samples import WEBHOOK
from tests.monitor.site import JSON, SECRET, TOKENS, Running, running

PATH = "/campaigns/c/judgments"
ALICE = Pseudonyms(b"a key for tests")["alice"]


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
    assert answer.status == 202
    assert (answer.json["accepted"], answer.json["ids"]) == (count, [each.id for each in LOG[:count]])
    assert in_the_log(monitor) == by_pseudonym(*LOG[:count])


def test_a_judgment_from_the_future_is_refused_at_once(monitor: Running) -> None:
    later = datetime.now(UTC) + timedelta(minutes=10)
    answer = monitor.post(PATH, plain(LOG[0], at=later.isoformat()))
    error = answer.json["error"]
    assert (answer.status, error["reason"], error["field"]) == (422, "in_the_future", "at")
    assert in_the_log(monitor) == []


def test_campaign_time_and_version_may_be_left_out(monitor: Running) -> None:
    answer = monitor.post(PATH, plain(LOG[0], campaign=None, at=None, version=None))
    assert answer.status == 202
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
    "path", ["judgments", "label-studio", "revoke", "commands", "next-match", "matches/return", "matches/skip"]
)
def test_writing_needs_a_token(monitor: Running, path: str, headers: dict[str, str]) -> None:
    answer = monitor.ask(f"/campaigns/c/{path}", method="POST", body=b"{}", headers=headers | JSON)
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


# -- what the status of a campaign rules out ---------------------------------------------------------------

LISTED = CampaignSettings(systems=("system-0", "system-1", "uedin"))
BASELINE = CampaignSettings(model="grm", systems=("system-0", "system-1", "uedin"), baseline="uedin")
ASSESSED = CampaignSettings(model="assessment", systems=("system-0", "system-1"), score_range=(1.0, 7.0))
SCORED = {"systems": ["system-0"], "ranks": None}


def create(settings: CampaignSettings) -> Create:
    return Create(id="create", campaign="c", at=NOON, settings=settings)


@pytest.mark.parametrize(
    ("commands", "changes", "status", "reason", "field"),
    [
        ([create(LISTED)], {"systems": ["system-0", "udein"]}, 422, "unknown_system", "systems"),
        ([create(LISTED)], SCORED | {"score": 3}, 422, "unsuited_to_model", "score"),
        ([create(ASSESSED)], {}, 422, "unsuited_to_model", "ranks"),
        ([create(ASSESSED)], SCORED | {"score": 50}, 422, "invalid_value", "score"),
        ([create(BASELINE)], {}, 422, "without_baseline", "systems"),
        (
            [create(LISTED), ExcludeJudge(id="x", campaign="c", at=NOON, judge="bad")],
            {},
            403,
            "judge_excluded",
            "judge",
        ),
        ([create(LISTED), Close(id="x", campaign="c", at=NOON)], {}, 409, "campaign_closed", "campaign"),
        ([], {"at": "2999-01-01T00:00:00Z"}, 422, "in_the_future", "at"),
    ],
)
def test_what_a_worker_would_reject_is_refused_at_once(
    monitor: Running, commands: list[Command], changes: dict[str, Any], status: int, reason: str, field: str
) -> None:
    monitor.publish(*commands)
    good = {"systems": ["system-0", "system-1"], "judge": "bad"}
    wrong = plain(LOG[1], **(good | changes))
    answer = monitor.post(PATH, wrong)
    error = answer.json["error"]
    assert (answer.status, error["reason"], error["field"]) == (status, reason, field)
    listed = monitor.post(PATH, [wrong, wrong])
    assert (listed.status, listed.json["error"]["field"]) == (status, f"judgments[0].{field}")
    if commands:  # the worker says the same
        monitor.publish(msgspec.convert(wrong, Judgment))
        assert monitor.get("/campaigns/c/rejections")["latest"][0]["reason"] == reason
    else:
        assert monitor.stream.log.all(topics.JUDGMENTS.name) == []


def test_a_list_with_one_refused_judgment_is_refused_as_a_whole(monitor: Running) -> None:
    monitor.publish(create(LISTED))
    good = plain(LOG[0], systems=["system-0", "system-1"])
    answer = monitor.post(PATH, [good, plain(LOG[1], systems=["system-0", "nobody"])])
    assert (answer.status, answer.json["error"]["field"]) == (422, "judgments[1].systems")
    assert monitor.get("/campaigns/c")["judgments"] == 0
    assert monitor.post(PATH, [good]).status == 202


def test_a_system_that_was_just_added_is_accepted(monitor: Running) -> None:
    """The status is cached for a second, but not for a refusal."""
    monitor.publish(create(LISTED))
    wrong = plain(LOG[0], systems=["system-0", "new"])
    assert monitor.post(PATH, wrong).status == 422
    monitor.publish(AddSystem(id="add", campaign="c", at=NOON, system="new"))
    assert monitor.post(PATH, wrong).status == 202


def test_a_paused_campaign_accepts_judgments(monitor: Running) -> None:
    monitor.publish(*LOG, Pause(id="x", campaign="c", at=NOON))
    assert monitor.post(PATH, plain(judgment(9))).status == 202
    assert monitor.get("/campaigns/c")["judgments"] == 4


def test_an_unknown_campaign_is_refused_if_the_workers_reject_it() -> None:
    settings = Settings(monitor_tokens=TOKENS, judge_key="a key for tests", unknown_campaign="reject")
    with running(settings) as monitor:
        answer = monitor.post(PATH, plain(LOG[0]))
        assert (answer.status, answer.json["error"]["reason"]) == (404, "unknown_campaign")
        monitor.publish(create(CampaignSettings()))
        assert monitor.post(PATH, plain(LOG[0])).status == 202


def test_without_the_store_the_worker_decides(monitor: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monitor.publish(create(LISTED))

    def fail(_: str) -> None:
        raise StoreUnavailable("Redis is away")

    monkeypatch.setattr(monitor.stream.store, "read_meta", fail)
    assert monitor.post(PATH, plain(LOG[0], systems=["nobody", "else"])).status == 202
    assert len(monitor.stream.log.all(topics.REJECTED.name)) == 1


# -- what became of it ------------------------------------------------------------------------------------


def test_the_answer_names_the_place_to_ask(monitor: Running) -> None:
    odd = "a/b c?d%e"
    answer = monitor.post(PATH, plain(LOG[0], id=odd))
    assert answer.status == 202
    place = answer.json["outcome"].replace("{id}", quote(odd, safe=""))
    assert monitor.get(place) == {"id": odd, "outcome": "applied", "rejection": None}
    assert monitor.get(place + "x")["outcome"] == "unknown"


def test_a_rejection_is_found_by_the_id_of_the_judgment(monitor: Running) -> None:
    monitor.publish(create(LISTED))
    monitor.publish(*(judgment(number, systems=("system-0", f"nobody-{number}")) for number in range(3)))
    found = monitor.get("/campaigns/c/judgments/id-1")
    assert (found["outcome"], found["rejection"]["reason"]) == ("rejected", "unknown_system")
    listed = monitor.get("/campaigns/c/rejections?judgment=id-1")
    assert listed["latest"] == [found["rejection"]]
    assert listed["total"] == 3
    assert [each["judgment"] for each in monitor.get("/campaigns/c/rejections")["latest"]] == ["id-2", "id-1", "id-0"]


def test_an_id_that_is_too_long_is_refused(monitor: Running) -> None:
    for path in (f"judgments/{'x' * 201}", "rejections?judgment=", f"commands/{'x' * 201}"):
        assert monitor.ask(f"/campaigns/c/{path}").status == 422


# -- commands --------------------------------------------------------------------------------------------


def test_a_command_is_published_in_the_name_of_the_token(monitor: Running) -> None:
    monitor.publish(*LOG)
    answer = monitor.post("/campaigns/c/commands", {"action": "pause", "by": "somebody else"})
    assert answer.status == 202
    assert monitor.get("/campaigns/c")["state"] == "paused"
    assert monitor.get(answer.json["outcome"])["outcome"] == "applied"
    command = msgspec.json.decode(monitor.stream.log.all(topics.JUDGMENTS.name)[-1].value or b"", type=Pause)
    assert (command.id, command.by) == (answer.json["id"], "tests")


def test_a_command_that_a_worker_refuses_says_so_at_the_place_to_ask(monitor: Running) -> None:
    monitor.publish(create(LISTED))
    answer = monitor.post("/campaigns/c/commands", {"action": "withdraw", "system": "nobody", "id": "mine"})
    assert (answer.status, answer.json["id"]) == (202, "mine")
    found = monitor.get(answer.json["outcome"])
    assert (found["outcome"], found["rejection"]["reason"]) == ("rejected", "refused_command")


def test_without_the_judge_key_only_pseudonyms_are_taken() -> None:
    with running(Settings(monitor_tokens=TOKENS)) as monitor:
        monitor.publish(*LOG)
        answer = monitor.post(PATH, plain(judgment(4, judge="alice")))
        assert (answer.status, answer.json["error"]["field"]) == (503, "judge")
        assert "JUDGESTREAM_JUDGE_KEY" in answer.json["error"]["message"]
        assert "alice" not in str(answer.json)
        assert in_the_log(monitor) == LOG, "what another producer has sent"
        ready_made = judgment(5, judge=wire_pseudonym("alice", "a key of the platform"))
        assert monitor.post(PATH, plain(ready_made)).status == 202
        assert in_the_log(monitor) == [*LOG, ready_made]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"action": "explode"}, "action"),
        ({"action": "pause", "campaign": "other"}, "campaign"),
        ({"action": "withdraw"}, "system"),
        (b"nonsense", None),
    ],
)
def test_what_is_no_command_is_refused(monitor: Running, body: object, field: str | None) -> None:
    answer = monitor.post("/campaigns/c/commands", body)
    assert (answer.status, answer.json["error"]["field"]) == (422, field)


# -- Label Studio ----------------------------------------------------------------------------------------


def test_label_studio_s_webhook_is_taken_as_it_is(monitor: Running) -> None:
    answer = monitor.post("/campaigns/c/label-studio", WEBHOOK)
    assert (answer.status, answer.json["accepted"]) == (202, 1)
    (found,) = in_the_log(monitor)
    assert found.campaign == "c"
    assert [found.id] == answer.json["ids"]


def test_events_of_label_studio_without_a_verdict_are_passed_over(monitor: Running) -> None:
    answer = monitor.post("/campaigns/c/label-studio", {"action": "TASKS_CREATED", "project": {"id": 1}})
    assert (answer.status, answer.json["accepted"], answer.json["ids"]) == (202, 0, [])


def test_an_annotation_that_is_updated_and_deleted_changes_and_takes_back_its_judgment(monitor: Running) -> None:
    created = json.loads(WEBHOOK)
    updated = {**created, "action": "ANNOTATION_UPDATED"}
    updated["annotation"] = {**created["annotation"], "result": [{"type": "pairwise", "value": {"selected": "right"}}]}
    deleted = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": created["annotation"]["id"]}], "project": {}}
    boards = []
    for payload in (created, updated, deleted, deleted):
        answer = monitor.post("/campaigns/c/label-studio", payload)
        assert (answer.status, answer.json["accepted"]) == (202, 1)
        monitor.publish()
        counts = monitor.stream.campaign("c").counts
        best = monitor.stream.campaign("c").leaderboard().rows[:1]
        boards.append((counts.judgments, counts.taken_back, [row.system for row in best]))
    assert boards == [(1, 0, ["gpt"]), (1, 1, ["claude"]), (0, 2, []), (0, 2, [])]


def test_verdicts_are_revoked_over_http(monitor: Running) -> None:
    monitor.publish(judgment(1, judge="alice"), judgment(2, judge="bob"))
    answer = monitor.post("/campaigns/c/revoke", {"judgments": ["id-1"], "judge": "alice", "id": "mine"})
    assert (answer.status, answer.json["accepted"], answer.json["outcome"]) == (202, 1, "/campaigns/c/commands/mine")
    monitor.publish()
    assert monitor.stream.campaign("c").counts.left_out == {"taken_back": 1}


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("c/revoke", {"judgments": []}, 422, "invalid_value"),
        ("c/revoke", {}, 422, "invalid_value"),
        ("c/revoke", {"judgments": ["id-1"], "judge": "nobody"}, 404, "unknown_judge"),
        ("unknown/revoke", {"judgments": ["id-1"]}, 404, "unknown_campaign"),
        ("c/commands", {"action": "retract", "taken_back": {"alice": {"id-1": 0}}}, 422, "invalid_value"),
    ],
)
def test_what_can_not_be_revoked_is_refused(
    monitor: Running, path: str, body: object, status: int, reason: str
) -> None:
    monitor.publish(judgment(1, judge="alice"))
    answer = monitor.post(f"/campaigns/{path}", body)
    assert (answer.status, answer.json["error"]["reason"]) == (status, reason)


def test_a_judgment_that_replaces_itself_is_refused(monitor: Running) -> None:
    answer = monitor.post(PATH, plain(judgment(1)) | {"replaces": "id-1"})
    assert (answer.status, answer.json["error"]["field"]) == (422, "replaces")


def test_a_webhook_that_is_not_label_studio_s_is_refused_with_the_field(monitor: Running) -> None:
    payload = {"action": "ANNOTATION_CREATED", "project": {"id": 1}, "task": {"data": {}}, "annotation": "no"}
    answer = monitor.post("/campaigns/c/label-studio", payload)
    assert (answer.status, answer.json["error"]["field"]) == (422, "annotation")


@pytest.mark.parametrize("judge", ["alice", ALICE, f"~{ALICE}"])
def test_a_judge_of_a_command_is_found_by_pseudonym_and_by_id(monitor: Running, judge: str) -> None:
    monitor.publish(judgment(1, judge="alice"), judgment(2, judge="bob"))
    for action in ("exclude", "include", "forget"):
        assert monitor.post("/campaigns/c/commands", {"action": action, "judge": judge}).status == 202
        excluded = monitor.stream.campaign("c").status.excluded
        assert excluded == ((ALICE,) if action == "exclude" else ()), "not a hash of the pseudonym"
    assert monitor.stream.store.read_judge("c", ALICE) is None
    records = [record.value or b"" for record in monitor.stream.log.all(topics.JUDGMENTS.name)]
    assert not any(b"alice" in value for value in records if b"action" in value)


@pytest.mark.parametrize("action", ["exclude", "include", "retract", "forget"])
@pytest.mark.parametrize("judge", ["carol", "0" * 20])
def test_a_command_on_a_judge_whom_the_campaign_does_not_know_is_refused(
    monitor: Running, action: str, judge: str
) -> None:
    monitor.publish(judgment(1, judge="alice"))
    before = len(monitor.stream.log.all(topics.JUDGMENTS.name))
    answer = monitor.post("/campaigns/c/commands", {"action": action, "judge": judge})
    assert (answer.status, answer.json["error"]["reason"], answer.json["error"]["field"]) == (
        404,
        "unknown_judge",
        "judge",
    )
    assert judge not in str(answer.json)
    assert monitor.post("/campaigns/nowhere/commands", {"action": action, "judge": judge}).status == 404
    assert len(monitor.stream.log.all(topics.JUDGMENTS.name)) == before


def test_one_who_has_not_judged_yet_is_excluded_by_pseudonym(monitor: Running) -> None:
    monitor.publish(judgment(1, judge="alice"))
    answer = monitor.post("/campaigns/c/commands", {"action": "exclude", "judge": f"~{'0' * 20}"})
    assert (answer.status, monitor.stream.campaign("c").status.excluded) == (202, ("0" * 20,))
