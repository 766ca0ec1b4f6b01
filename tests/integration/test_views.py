"""What people see of a campaign that a real worker runs on a real Kafka and a real Redis."""

from __future__ import annotations

import csv
import io
import json
import signal
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from streams.offline.planning import plan_ranking
from streams.offline.rating import rate
from streams.wire import topics
from streams.wire.events import Close, Create, Leaderboard, encode
from tests.builders import NOON, crowd_log
from tests.integration.stack import JUDGESTREAM
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from streams.wire.events import Judgment
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration

LOG = [msgspec.structs.replace(each, campaign="wmt.fr-en", duration_ms=2000) for each in crowd_log(300)]
COMMANDS = ("leaderboard", "judges", "segments", "pairs")


def publish(stack: Stack, judgments: list[Judgment]) -> None:
    before = stack.records_read()
    stack.publish([(each.campaign.encode(), encode(each)) for each in judgments])
    stack.wait_until_read(before + len(judgments))


@pytest.fixture
def running(stack: Stack) -> Stack:
    """Return a stack whose worker has rated the first two hundred judgments."""
    stack.start_worker()
    create = Create(id="create", campaign="wmt.fr-en", at=NOON, settings=plan_ranking("trueskill-judges").settings)
    stack.publish([(b"wmt.fr-en", encode(create))])
    publish(stack, LOG[:200])
    return stack


def shown(stack: Stack, command: str, *arguments: str) -> Any:
    done = stack.command(command, "wmt.fr-en", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_leaderboard_is_the_one_of_the_log_rated_here(running: Stack) -> None:
    settings, key = plan_ranking("trueskill-judges").settings, running.settings.judge_key
    (campaign,) = rate([LOG[:200]], settings, judge_key=key).campaigns.values()
    (found,) = msgspec.convert(shown(running, "leaderboard")["campaigns"], list[Leaderboard])
    assert found.rows == campaign.leaderboard().rows
    assert found.judgments == 200


def test_judges_segments_and_pairs_add_up_to_the_log(running: Stack) -> None:
    judges = shown(running, "judges")["judges"]
    assert sum(judge["judgments"] for judge in judges) == 200
    assert {judge["seconds"] for judge in judges} == {2.0}
    assert all(0 < judge["reliability"] < 1 for judge in judges)
    assert not {judge["judge"] for judge in judges} & {each.judge for each in LOG}
    assert sum(segment["judgments"] for segment in shown(running, "segments")["segments"]) == 200
    pairs = shown(running, "pairs")["pairs"]
    assert sum(pair["wins"] + pair["ties"] + pair["losses"] for pair in pairs) == 200


@pytest.mark.parametrize("command", COMMANDS)
def test_every_view_has_a_table_and_csv(running: Stack, command: str) -> None:
    table = running.command(command, "wmt.fr-en")
    assert (table.returncode, table.stderr) == (0, "")
    rows = list(csv.DictReader(io.StringIO(running.command(command, "wmt.fr-en", "--csv").stdout)))
    assert rows
    first = next(iter(rows[0].values())) if command != "leaderboard" else rows[0]["system"]
    assert first in table.stdout


@pytest.mark.parametrize("command", [*COMMANDS, "watch"])
def test_a_campaign_that_is_not_there_is_answered_with_the_one_that_was_meant(running: Stack, command: str) -> None:
    done = running.command(command, "wmt.fr-ne")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: no campaign 'wmt.fr-ne'; did you mean 'wmt.fr-en'?\n"


@pytest.mark.parametrize("command", [*COMMANDS, "watch"])
def test_a_redis_that_is_away_is_one_line(stack: Stack, command: str) -> None:
    done = stack.command(command, "wmt.fr-en", JUDGESTREAM_REDIS="redis://127.0.0.1:9/0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: Redis at redis://127.0.0.1:9/0 does not answer")
    assert len(done.stderr.splitlines()) == 1


@contextmanager
def follow(stack: Stack, file: Path) -> Iterator[Popen[bytes]]:
    command = [str(JUDGESTREAM), "watch", "wmt.fr-en", "--interval", "0.1"]
    with file.open("wb") as stream:
        watch = Popen(command, env=stack.environment, stdout=stream, stderr=PIPE, cwd=stack.folder)
    with watch:
        try:
            yield watch
        finally:
            watch.kill()  # it has ended, if all is well


def judged(file: Path) -> list[int]:
    return [
        json.loads(line)["view"]["judgments"] for line in file.read_text().splitlines(keepends=True) if line[-1] == "\n"
    ]


def test_a_watch_sees_the_changes_and_ends_with_the_campaign(running: Stack, tmp_path: Path) -> None:
    file = tmp_path / "changes.jsonl"
    with follow(running, file) as watch:
        running.wait_for(lambda: judged(file) == [200], "the first look")
        publish(running, LOG[200:])
        running.wait_for(lambda: judged(file)[-1] == 300, "the change")
        running.publish([(b"wmt.fr-en", encode(Close(id="close", campaign="wmt.fr-en", at=NOON)))], topics.COMMANDS)
        _, said = watch.communicate(timeout=PATIENCE_SECONDS)
    assert (watch.returncode, said) == (0, b"")
    last = json.loads(file.read_text().splitlines()[-1])
    assert (last["view"]["state"], last["leaderboard"]["judgments"]) == ("closed", 300)


def test_an_interrupt_ends_a_watch_cleanly(running: Stack, tmp_path: Path) -> None:
    file = tmp_path / "changes.jsonl"
    with follow(running, file) as watch:
        running.wait_for(lambda: judged(file) == [200], "the first look")
        watch.send_signal(signal.SIGINT)
        _, said = watch.communicate(timeout=PATIENCE_SECONDS)
    assert (watch.returncode, said) == (0, b"")
