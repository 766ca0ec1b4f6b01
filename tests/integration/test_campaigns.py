"""Campaigns run by an operator's commands on a real Kafka and a real Redis: each answered, each seen to take effect."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen
from typing import Any

import msgspec
import pytest

from deploy.servers import Servers
from streams.core.campaign.pseudonyms import Pseudonyms
from streams.errors import RecordError
from streams.kafka.commands import send_command
from streams.wire import events, topics
from streams.wire.events import encode
from tests.builders import NOON, judgment
from tests.integration.stack import JUDGESTREAM, Stack, done
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.integration


@pytest.fixture
def running(stack: Stack) -> Stack:
    """Return a stack whose worker has taken its partitions over, so that a command need not wait for that."""
    worker = stack.start_worker()
    every = [f"{stack.name(topics.JUDGMENTS)}/{number} is open" for number in range(stack.settings.partitions)]
    stack.wait_for(lambda: all(map(worker.said, every)), "a worker with all partitions")
    return stack


def campaign(stack: Stack, *arguments: str) -> dict[str, Any]:
    return done(stack.command("campaign", *arguments, "--json"))


def refused(result: CompletedProcess[str]) -> str:
    """Read what a refused command says, on one line."""
    assert (result.returncode, result.stdout) == (1, "")
    assert "Traceback" not in result.stderr
    (line,) = result.stderr.splitlines()
    return line


def rejected(stack: Stack, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done(stack.command("rejected", "list", "--json", *arguments))["rejections"]
    return found


def board(stack: Stack, name: str = "c") -> dict[str, Any]:
    """Return the newest leaderboard."""
    boards = [each for each in map(json.loads, stack.values(topics.LEADERBOARDS)) if each["campaign"] == name]
    return max(boards, key=lambda each: int(each["sequence"]), default={"rows": [], "judgments": 0})


def ranked(stack: Stack) -> set[str]:
    return {row["system"] for row in board(stack)["rows"]}


def publish(stack: Stack, *judgments: events.Judgment) -> None:
    """Publish judgments, and wait until they are read."""
    before = stack.records_read()
    stack.publish([(each.campaign.encode(), encode(each)) for each in judgments])
    stack.wait_until_read(before + len(judgments))


def test_a_campaign_is_created_with_its_settings_and_they_are_shown(running: Stack) -> None:
    created = campaign(
        running,
        *("create", "wmt13.fr-en", "--system", "online,B", "--system", "uedin", "--baseline", "uedin"),
        *("--budget", "2000", "--stop-confidence", "0.9", "--model", "grm", "--parameter", "margin=0.4"),
        *("--setting", "segments=s1,s2", "--setting", "outstanding=3", "--by", "operator"),
    )
    (shown,) = campaign(running, "show", "wmt13.fr-en")["campaigns"]
    assert shown == created
    assert created["state"] == "open"
    expected = events.CampaignSettings(
        systems=("online,B", "uedin"),
        baseline="uedin",
        budget=2000,
        stop_confidence=0.9,
        model="grm",
        parameters={"margin": 0.4},
        segments=("s1", "s2"),
        outstanding=3,
    )
    assert msgspec.convert(shown["settings"], events.CampaignSettings) == expected
    (logged,) = map(json.loads, running.values(topics.JUDGMENTS))
    assert (logged["by"], logged["id"]) == ("operator", created["command"])

    campaign(running, "create", "other")
    assert [each["campaign"] for each in campaign(running, "show")["campaigns"]] == ["other", "wmt13.fr-en"]
    lines = running.command("campaign", "show").stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["other", "open"], ["wmt13.fr-en", "open"]]
    running.publish([(b"other", None), (b"wmt13.fr-en", b'{"from": "another version"}')], topics.CAMPAIGNS)
    left = running.command("campaign", "show", "--json")
    assert [each["campaign"] for each in done(left)["campaigns"]] == ["wmt13.fr-en"], "the other was deleted"
    assert "is skipped, because it can't be read" in left.stderr
    lines = running.command("campaign", "show", "wmt13.fr-en").stdout.splitlines()
    assert dict(line.split(maxsplit=1) for line in lines[1:])["systems"] == "online,B, uedin"
    unknown = running.command("campaign", "show", "wmt13-fr.en")
    assert unknown.returncode == 1
    assert "did you mean 'wmt13.fr-en'?" in unknown.stderr


def test_a_changed_setting_is_in_force(running: Stack) -> None:
    campaign(running, "create", "c", "--budget", "10")
    campaign(running, "set", "c", "--budget", "20", "--policy", "uniform", "--setting", "outstanding=2")
    campaign(running, "set", "c", "--setting", "budget=null")
    (shown,) = campaign(running, "show", "c")["campaigns"]
    settings = shown["settings"]
    assert (settings["budget"], settings["policy"], settings["outstanding"]) == (None, "uniform", 2)


def test_a_refused_command_gives_its_reason_and_exit_code_1(running: Stack) -> None:
    campaign(running, "create", "c", "--system", "a", "--system", "b")
    before = campaign(running, "show", "c")
    for arguments, words in (
        (["create", "c"], "refused (refused_command, campaign): the campaign 'c' exists already"),
        (["set", "c", "--policy", "unifrom"], "no match policy 'unifrom'; did you mean 'uniform'?"),
        (["set", "c", "--setting", "model=grm"], "the setting 'model' can't change"),
        (["create", "d", "--parameter", "beta=-1"], "refused (refused_command, settings): model 'trueskill'"),
        (["create", "d", "--model", "truskill"], "did you mean 'trueskill'?"),
        (["pause", "nowhere"], "refused (unknown_campaign, campaign): there is no campaign 'nowhere'"),
        (["add", "c", "a"], "the system 'a' is in the campaign already"),
    ):
        assert words in refused(running.command("campaign", *arguments)), arguments
    assert campaign(running, "show") == before


def test_a_command_that_the_worker_can_t_read_is_refused_too(running: Stack) -> None:
    segments = running.folder / "segments.txt"
    segments.write_text("\n".join(f"segment {number} {'.' * 100}" for number in range(10_000)))
    create = ["campaign", "create", "c", "--setting", f"segments=@{segments}"]
    result = running.command(*create, JUDGESTREAM_MAX_RECORD_BYTES="8000000")
    assert "refused (too_large): the record has" in refused(result)
    assert running.command(*create).returncode == 2, "with the worker's limit it is not even sent"
    with pytest.raises(RecordError, match="campaign") as found:
        send_command(running.settings, events.Pause(id="1", campaign="no such name", at=NOON), timeout=30)
    assert (found.value.reason, found.value.field) == ("invalid_value", "campaign")


def test_systems_come_and_go(running: Stack) -> None:
    campaign(running, "create", "c", "--system", "a", "--system", "b")
    publish(running, judgment(1), judgment(2, systems=("a", "x")))
    running.wait_for(lambda: ranked(running) == {"a", "b"}, "a leaderboard")
    assert campaign(running, "add", "c", "x")["settings"]["systems"] == ["a", "b", "x"]
    publish(running, judgment(3, systems=("a", "x")))
    assert campaign(running, "withdraw", "c", "b")["withdrawn"] == ["b"]
    running.wait_for(lambda: ranked(running) == {"a", "x"}, "a leaderboard without the withdrawn system")
    assert campaign(running, "add", "c", "b")["withdrawn"] == []
    running.wait_for(lambda: ranked(running) == {"a", "b", "x"}, "a leaderboard with it again")


def test_a_pause_stops_the_match_requests_until_resume(running: Stack) -> None:
    campaign(running, "create", "c", "--system", "a", "--system", "b", "--setting", "outstanding=2")

    def requests(*, cancelled: bool = False) -> list[str]:
        sent = [json.loads(value) for value in running.values(topics.MATCH_REQUESTS)]
        return [request["id"] for request in sent if request["cancelled"] == cancelled]

    running.wait_for(lambda: len(requests()) == 2, "two match requests")
    assert campaign(running, "pause", "c")["state"] == "paused"
    first, second = requests()
    running.wait_for(lambda: requests(cancelled=True) == [first, second], "they are cancelled")
    publish(running, judgment(1, request=first), judgment(2, request=second))
    running.wait_for(lambda: board(running)["judgments"] == 2, "the judgments count")
    assert len(requests()) == 2
    assert campaign(running, "resume", "c")["state"] == "open"
    running.wait_for(lambda: len(requests()) == 4, "two more")


def test_an_excluded_judge_is_heard_no_more_and_a_retracted_one_never_was(running: Stack) -> None:
    campaign(running, "create", "c")
    publish(running, judgment(1, judge="anna"), judgment(2, judge="bert"), judgment(3, judge="bert", ranks=(2, 1)))
    pseudonym = Pseudonyms(running.settings.judge_key.encode())["bert"]
    excluded = running.command("campaign", "exclude", "c", "bert")
    assert excluded.returncode == 0, excluded.stderr
    assert f"the judge {pseudonym} (given as an id) has 2 judgments" in excluded.stdout
    publish(running, judgment(4, judge="bert"))
    (rejection,) = rejected(running, "--reason", "judge_excluded")
    assert rejection["offset"] == 5
    (status,) = campaign(running, "show", "c")["campaigns"]
    assert status["excluded"] == [pseudonym]

    campaign(running, "retract", "c", "--judge", "bert", "--yes")
    running.wait_for(lambda: board(running)["judgments"] == 1, "only anna's judgment counts")
    campaign(running, "retract", "c", "--judgment", "id-1", "--judgment", "id-2", "--yes")
    running.wait_for(lambda: board(running)["judgments"] == 0, "none does")


def test_a_revoked_verdict_leaves_the_board(running: Stack) -> None:
    publish(running, judgment(1, judge="anna"), judgment(2, judge="bert"), judgment(3, judge="bert"))
    campaign(running, "revoke", "c", "--judgment", "id-2", "--judge", "bert", "--yes")
    running.wait_for(lambda: board(running).get("left_out") == {"taken_back": 1}, "the verdict is taken back")
    publish(running, judgment(4, judge="bert"))
    other = running.command("campaign", "revoke", "c", "--judgment", "id-4", "--judge", "anna", "--yes")
    assert (other.returncode, "is of another judge" in other.stderr) == (1, True)
    campaign(running, "revoke", "c", "--judgment", "id-4", "--yes")
    running.wait_for(lambda: board(running).get("left_out") == {"taken_back": 2}, "a recent one at once")
    assert board(running)["judgments"] == 2


def test_a_closed_campaign_takes_nothing_more(running: Stack) -> None:
    publish(running, judgment(1))
    without = running.command("campaign", "close", "c")
    assert without.returncode == 2
    assert "--yes" in without.stderr
    assert campaign(running, "close", "c", "--yes")["state"] == "closed"
    publish(running, judgment(2))
    (rejection,) = rejected(running)
    assert rejection["reason"] == "campaign_closed"
    assert "the campaign 'c' is closed" in refused(running.command("campaign", "resume", "c"))


def test_without_a_worker_the_command_waits_in_kafka_and_takes_effect_later(stack: Stack) -> None:
    result = stack.command("campaign", "create", "c", "--timeout", "1")
    said = refused(result)
    assert "no answer within 1 s" in said
    assert "judgestream doctor" in said
    sent = done(stack.command("campaign", "pause", "c", "--no-wait", "--json"))
    waiting = [json.loads(value) for value in stack.values(topics.COMMANDS)]
    assert [each["action"] for each in waiting] == ["create", "pause"]
    assert waiting[1]["id"] == sent["command"]
    stack.start_worker()
    stack.wait_for(lambda: len(stack.values(topics.CAMPAIGNS)) == 2, "both commands obeyed")
    (shown,) = campaign(stack, "show")["campaigns"]
    assert (shown["state"], shown["command"]) == ("paused", sent["command"])


def test_a_kafka_that_dies_while_an_answer_is_waited_for_is_no_traceback(stack: Stack, tmp_path: Path) -> None:
    servers = Servers(tmp_path / "servers")
    try:
        kafka = servers.start("kafka")["JUDGESTREAM_KAFKA"]
        mortal = Stack(msgspec.structs.replace(stack.settings, kafka=kafka), tmp_path)
        with Popen(
            [JUDGESTREAM, "campaign", "pause", "c", "--timeout", "5"], env=mortal.environment, stderr=PIPE, text=True
        ) as waiting:
            mortal.wait_for(lambda: len(mortal.values(topics.COMMANDS)) == 1, "the command is sent")
            servers.kill("kafka")
            _, said = waiting.communicate(timeout=PATIENCE_SECONDS)
        mortal.stop()
    finally:
        servers.stop()
    assert waiting.returncode == 1
    (line,) = said.splitlines()
    assert "no answer within 5 s" in line


def test_the_answers_to_others_are_not_taken_for_ours(stack: Stack) -> None:
    others = [
        events.Create(id="1", campaign="c", at=NOON),
        events.Create(id="2", campaign="c", at=NOON),
        events.Pause(id="3", campaign="c", at=NOON),
    ]
    stack.publish([(b"c", encode(other)) for other in others], topics.COMMANDS)
    with Popen(
        [JUDGESTREAM, "campaign", "resume", "c", "--json", "--timeout", "300"],
        env=stack.environment,
        stdout=PIPE,
        text=True,
    ) as waiting:
        stack.wait_for(lambda: len(stack.values(topics.COMMANDS)) == 4, "ours is sent")
        stack.start_worker()
        said, _ = waiting.communicate(timeout=PATIENCE_SECONDS)
    assert waiting.returncode == 0
    (ours,) = (each for each in map(json.loads, stack.values(topics.COMMANDS)) if each["action"] == "resume")
    answer = json.loads(said)
    assert (answer["command"], answer["state"], answer["offset"]) == (ours["id"], "open", 3)


def test_missing_topics_are_said_with_the_way_out(stack: Stack) -> None:
    for arguments in (
        ["campaign", "show"],
        ["campaign", "pause", "c"],
        ["campaign", "pause", "c", "--no-wait"],
        ["rejected", "list"],
    ):
        assert "judgestream topics --create" in refused(stack.command(*arguments, JUDGESTREAM_NAMESPACE="elsewhere"))


def test_rejected_judgments_count_after_their_cause_is_mended_and_they_are_sent_again(running: Stack) -> None:
    campaign(running, "create", "c", "--system", "a", "--system", "b")
    good, bad = judgment(1), [judgment(number, systems=("a", "x")) for number in (2, 3)]
    publish(running, good, *bad, judgment(4, campaign="d"))
    running.publish([(b"c", None), (b"c", b"\x1b[31m{")])
    running.wait_for(lambda: len(rejected(running)) == 4, "four rejections")
    assert len(rejected(running, "--campaign", "c", "--reason", "unknown_system")) == 2
    assert "did you mean 'c'?" in running.command("rejected", "list", "--campaign", "cc").stderr
    table = running.command("rejected", "list").stdout
    assert "\x1b" not in table
    assert "\\x1b[31m{" in table
    assert "(empty)" in table

    retry = ["rejected", "retry", "--campaign", "c", "--reason", "unknown_system"]
    assert running.command(*retry).returncode == 2, "nobody can be asked"
    dry = running.command(*retry, "--dry-run")
    assert "Would send 2 records again: unknown_system 2." in dry.stdout
    too_early = running.command(*retry, "--yes")
    assert "Sent 2 records again" in too_early.stdout
    running.wait_for(lambda: len(rejected(running)) == 6, "both rejected again")

    campaign(running, "add", "c", "x")
    for _ in range(2):
        again = running.command(*retry, "--yes")
        assert "Sent 2 records again" in again.stdout, "each once, however often it was rejected"
    running.wait_until_read(4 + 2 + 2 + 4 + 2)  # judgments, bad records, retries and commands
    running.wait_for(lambda: board(running)["judgments"] == 3, "they count, once")
    assert len(rejected(running)) == 6
    log = [
        json.loads(record.value)["id"]
        for records in running.read(topics.JUDGMENTS).values()
        for record in records
        if record.value and record.value.startswith(b"{") and record.key == b"c"
    ]
    assert log[-2:] == ["id-2", "id-3"]


def test_a_retry_names_what_it_leaves_out(running: Stack) -> None:
    running.publish([(b"c", None), (b"c", b"{")])
    running.wait_for(lambda: len(rejected(running)) == 2, "two rejections")
    empty, broken = (each["id"] for each in sorted(rejected(running), key=lambda each: each["offset"]))
    result = running.command("rejected", "retry", "--yes")
    assert f"{empty} is skipped: its original is empty" in result.stderr
    assert "Sent 1 record again" in result.stdout
    assert "Nothing to send again." in running.command("rejected", "retry", "--id", empty, "--yes").stdout
    assert "no such rejection: x" in refused(running.command("rejected", "retry", "--id", broken, "--id", "x", "--yes"))


def test_a_refused_command_can_be_sent_again_too(running: Stack) -> None:
    assert "there is no campaign" in refused(running.command("campaign", "pause", "c"))
    campaign(running, "create", "c")
    assert "Sent 1 record again" in running.command("rejected", "retry", "--reason", "unknown_campaign", "--yes").stdout
    running.wait_for(lambda: campaign(running, "show", "c")["campaigns"][0]["state"] == "paused", "the pause obeyed")


def test_rejections_are_listed_newest_last_and_since_a_time(stack: Stack) -> None:
    def rejection(number: int) -> bytes:
        name = stack.name(topics.JUDGMENTS)
        return encode(
            events.Rejection(
                id=f"{name}/0/{number}",
                reason="empty",
                field=None,
                message="m",
                original=b"",
                topic=name,
                partition=0,
                offset=number,
            )
        )

    for number in range(6):
        stack.publish([(b"%d" % number, rejection(number))], topics.REJECTED)
    stack.publish([(b"0", rejection(0)), (b"0", b"what is this?")], topics.REJECTED)
    listed = stack.command("rejected", "list", "--json")
    found = done(listed)
    assert "can't be read" in listed.stderr
    assert [each["offset"] for each in found["rejections"]] == list(range(6)), "a repeated one is listed once"
    assert [each["offset"] for each in rejected(stack, "--limit", "2")] == [4, 5]
    table = stack.command("rejected", "list", "--limit", "2")
    assert "the newest 2 of 6: empty 6" in table.stderr
    fourth = found["rejections"][3]["at"]
    assert [each["offset"] for each in rejected(stack, "--since", fourth, "--campaign", "4")] == [4]
    assert [each["offset"] for each in rejected(stack, "--since", fourth)][:3] == [3, 4, 5]
    assert rejected(stack, "--since", f"{NOON + timedelta(days=365 * 1000):%Y-%m-%d}") == []
