"""`judgestream replay` into a real Kafka with a worker behind it: the same bits, wherever it is interrupted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deploy.servers import Servers
from streams.kafka.partitions import partition_of
from streams.offline.rating import JUDGE_CODES
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import Judgment, encode
from tests.builders import crowd_log, judgment
from tests.data import real_log
from tests.integration.stack import Stack, done
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.conftest import Addresses
    from tests.integration.conftest import Start

pytestmark = pytest.mark.integration

WMT13 = "wmt13_fr-en_rank.csv.gz"


def written(stack: Stack, log: Sequence[Judgment], name: str = "log.jsonl") -> Path:
    file = stack.folder / name
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    return file


def ranked(boards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what tells of the log that it stands in: its offset, and the command that opened it in the sequence.

    Cautions about judges are left out too, because `rank` tests the judges exactly.
    """
    return [
        {name: board[name] for name in board if name not in ("offset", "sequence", "cautions")}
        | {"cautions": [caution for caution in board["cautions"] if caution["code"] not in JUDGE_CODES]}
        for board in boards
    ]


def ids_in_kafka(stack: Stack) -> list[tuple[str, str]]:
    """Return campaign and id of the judgments in the log, in its order."""
    log = stack.read(topics.JUDGMENTS)
    events = [json.loads(record.value or b"") for partition in sorted(log) for record in log[partition]]
    return [(event["campaign"], event["id"]) for event in events if "action" not in event]


def holds(stack: Stack, count: int) -> bool:
    return len(ids_in_kafka(stack)) >= count


def in_order(log: Sequence[Judgment], stack: Stack) -> list[tuple[str, str]]:
    """Return campaign and id of judgments in the order of the partitions."""
    home = {each.campaign: partition_of(each.campaign, stack.settings.partitions) for each in log}
    return sorted(((each.campaign, each.id) for each in log), key=lambda each: home[each[0]])


@pytest.mark.data
def test_into_kafka_directly_and_rank_give_the_same_bits(stack: Stack) -> None:
    log = str(real_log(WMT13))
    stack.start_worker()
    into_kafka = done(stack.command("replay", log, "--speed", "max", "--wait", "--json"))
    directly = done(stack.command("replay", log, "--direct", "--json"))
    rank = done(stack.command("rank", log, "--json"))
    assert ranked(directly["campaigns"]) == ranked(rank["campaigns"])
    assert ranked(into_kafka["campaigns"]) == ranked(rank["campaigns"])
    assert into_kafka["replay"] == {
        "read": 9996, "there": 0, "sent": 9996, "applied": 9996, "duplicate": 0, "rejected": 0
    }  # fmt: skip
    judges = {json.loads(value).get("judge", "~") for value in stack.values(topics.JUDGMENTS)}
    assert all(judge.startswith("~") for judge in judges), "no id is sent"
    stack.wait_for(lambda: bool(stack.values(topics.LEADERBOARDS)), "a leaderboard")

    def announced() -> bool:
        boards = [json.loads(value) for value in stack.values(topics.LEADERBOARDS)]
        return ranked(boards[-1:]) == ranked(rank["campaigns"])

    stack.wait_for(announced, "the worker's own leaderboard is the same")
    again = done(stack.command("replay", log, "--wait", "--json"))
    assert again["campaigns"] == into_kafka["campaigns"]
    assert again["replay"]["there"] == 9996
    assert again["replay"]["sent"] == 0


def test_several_campaigns_with_repeats_give_the_same_bits(stack: Stack) -> None:
    log = crowd_log(3000, campaigns=3, ways=3)
    file = written(stack, [*log, *log[:100], *log[50:60]])
    stack.start_worker()
    into_kafka = done(stack.command("replay", str(file), "--wait", "--json", "--setting", "model=trueskill-judges"))
    directly = done(stack.command("replay", str(file), "--direct", "--json", "--setting", "model=trueskill-judges"))
    assert ranked(into_kafka["campaigns"]) == ranked(directly["campaigns"])
    assert {board["model"] for board in directly["campaigns"]} == {"trueskill-judges"}
    figures = {"applied": 3000, "duplicate": 110, "rejected": 0}
    assert into_kafka["replay"] == {"read": 3110, "there": 0, "sent": 3110, **figures}
    assert directly["replay"] == {"read": 3110, "there": 0, "sent": 0, **figures}
    again = stack.command("replay", str(file), "--wait", "--json", "--setting", "model=grm")
    assert done(again)["campaigns"] == into_kafka["campaigns"]
    assert "campaign-0, campaign-1, campaign-2: exists already and keeps its settings" in again.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_anywhere_and_run_again_the_log_is_whole_and_in_order(
    start: Start, stack: Stack, how: signal.Signals
) -> None:
    # Long and slow enough that also a busy machine interrupts it before its end.
    log = crowd_log(12_000, campaigns=3)
    file = written(stack, log)
    for more in (1, 700, 1500):
        known = len(ids_in_kafka(stack))
        process = start(stack, "replay", str(file), "--rate", "600")
        # Somebody else publishes to the same campaigns meanwhile.
        stack.publish([(b"campaign-1", encode(judgment(1_000_000 + more, campaign="campaign-1")))])
        stack.wait_for(partial(holds, stack, known + 1 + more), f"{more} more judgments")
        process.send_signal(how)
        said = process.communicate(timeout=PATIENCE_SECONDS)[1]
        assert process.returncode == (130 if how == signal.SIGINT else -how)
        if how == signal.SIGINT:
            assert "judgments were sent and acknowledged; run the same command again to continue" in said
            assert "Traceback" not in said
    mine = [each for each in ids_in_kafka(stack) if each in {(e.campaign, e.id) for e in log}]
    assert 2201 <= len(mine) < len(log)
    figures = done(stack.command("replay", str(file), "--json"))["replay"]
    assert (figures["there"], figures["sent"]) == (len(mine), len(log) - len(mine))
    wanted = set(in_order(log, stack))
    assert [each for each in ids_in_kafka(stack) if each in wanted] == in_order(log, stack)


def test_what_somebody_else_has_published_is_not_doubled_also_if_it_was_misrouted(stack: Stack) -> None:
    log = crowd_log(300, campaigns=2)
    file = written(stack, log)
    stack.start_worker()
    stack.publish([(each.campaign.encode(), encode(each)) for each in (log[100], log[7], log[8])])
    stack.wait_until_read(3)
    home = partition_of("campaign-0", stack.settings.partitions)
    elsewhere = next(f"k{n}" for n in range(99) if partition_of(f"k{n}", stack.settings.partitions) != home)
    stack.publish([(elsewhere.encode(), encode(log[2]))])  # the worker forwards it
    stack.wait_until_read(5)
    found = done(stack.command("replay", str(file), "--wait", "--json"))
    assert (found["replay"]["there"], found["replay"]["sent"]) == (4, 296)
    assert found["replay"]["applied"] == 300
    assert found["replay"]["duplicate"] == 0
    assert sum(board["judgments"] for board in found["campaigns"]) == 300


def test_judgments_reach_a_campaign_that_lives_on_another_partition(stack: Stack) -> None:
    log = crowd_log(30)
    home = partition_of("campaign-0", stack.settings.partitions)
    elsewhere = next(f"k{n}" for n in range(99) if partition_of(f"k{n}", stack.settings.partitions) != home)
    stack.start_worker()
    stack.publish([(elsewhere.encode(), encode(judgment(1, campaign="campaign-0")))])  # so it lives there
    stack.wait_until_read(1)
    result = stack.command("replay", str(written(stack, log)), "--wait", "--json")
    assert done(result)["replay"]["applied"] == 30


def test_judgments_that_do_not_reach_their_campaign_are_not_passed_over(stack: Stack) -> None:
    log = crowd_log(80, campaigns=8)
    stack.start_worker(JUDGESTREAM_MAX_CAMPAIGNS="1")
    result = stack.command("replay", str(written(stack, log)), "--wait", "--json")
    applied = done(result)["replay"]["applied"]
    assert 0 < applied < 80
    assert f"only {applied} of 80 judgments reached their campaigns" in result.stderr
    assert "for the reasons run: judgestream rejected list" in result.stderr


def test_without_a_worker_it_says_so_and_what_was_sent_stays(stack: Stack) -> None:
    file = written(stack, crowd_log(50))
    result = stack.command("replay", str(file), "--wait", "--timeout", "1")
    assert (result.returncode, result.stdout) == (1, "")
    assert "no worker has applied anything for 1 s: 51 records" in result.stderr
    assert "judgestream doctor" in result.stderr
    assert len(ids_in_kafka(stack)) == 50


def test_rounds_and_new_names_stand_in_the_log_and_go_on_after_an_interruption(start: Start, stack: Stack) -> None:
    log = crowd_log(40)
    file = written(stack, log)
    arguments = ["replay", str(file), "--loop", "--rate", "200", "--campaign", "again"]
    for _ in range(2):
        known = len(ids_in_kafka(stack))  # a slow machine may have sent more than was waited for
        process = start(stack, *arguments)
        stack.wait_for(partial(holds, stack, known + 81), "two more rounds")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 130
    found = ids_in_kafka(stack)
    rounds = ("", *(f"~{number}" for number in range(2, 2 + len(found) // 40)))
    assert found == [("again", f"{each.id}{mark}") for mark in rounds for each in log][: len(found)]


def killed_in_the_middle(start: Start, stack: Stack, own: Servers, *arguments: str) -> subprocess.Popen[str]:
    """Start a replay of 3,000 judgments, and kill the broker after some of them."""
    file = written(stack, crowd_log(3000, campaigns=3))
    process = start(stack, "replay", str(file), "--rate", "1500", *arguments)
    stack.wait_for(partial(holds, stack, 300), "300 judgments")
    own.kill("kafka")
    return process


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Servers]:
    """Return servers that nobody else uses."""
    running = Servers(tmp_path / "servers")
    try:
        yield running
    finally:
        running.kill()


@pytest.fixture
def mortal(own: Servers, servers: Addresses, tmp_path: Path) -> Iterator[Stack]:
    """Return a stack whose Kafka may be killed."""
    kafka = own.start("kafka")["JUDGESTREAM_KAFKA"]
    stack = Stack(Settings(kafka=kafka, redis=servers.redis, judge_key="k", partitions=4), tmp_path)
    try:
        yield stack
    finally:
        stack.stop()


def test_a_broker_that_comes_back_gets_each_judgment_once_and_in_order(
    start: Start, mortal: Stack, own: Servers
) -> None:
    process = killed_in_the_middle(start, mortal, own, "--json")
    own.start("kafka")
    stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["replay"]["sent"] == 3000
    assert ids_in_kafka(mortal) == in_order(crowd_log(3000, campaigns=3), mortal)


def test_a_broker_that_stays_away_is_a_clear_error_and_the_next_run_goes_on(
    start: Start, mortal: Stack, own: Servers
) -> None:
    process = killed_in_the_middle(start, mortal, own, "--timeout", "4")
    stderr = process.communicate(timeout=PATIENCE_SECONDS)[1]
    assert process.returncode == 1
    assert "Traceback" not in stderr
    said = re.search(r"Kafka at .* does not answer: .*; ([\d,]+) judgments were acknowledged", stderr)
    assert said is not None, stderr
    own.start("kafka")
    known = len(ids_in_kafka(mortal))
    assert int(said[1].replace(",", "")) <= known < 3000
    found = done(mortal.command("replay", "log.jsonl", "--json"))["replay"]
    assert (found["there"], found["sent"]) == (known, 3000 - known)
    assert ids_in_kafka(mortal) == in_order(crowd_log(3000, campaigns=3), mortal)
