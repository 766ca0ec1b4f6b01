"""What an operator sees: topics created and checked, a doctor, and words where a server is away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from streams.kafka.admin import inspect_topics
from streams.wire.topics import TOPICS

if TYPE_CHECKING:
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration


def test_topics_are_created_as_the_contract_says_and_found_so(stack: Stack) -> None:
    reports = inspect_topics(stack.settings)
    assert [report.name for report in reports] == [topic.within(stack.settings.namespace) for topic in TOPICS]
    assert [report.problems for report in reports] == [()] * len(TOPICS)
    assert {report.partitions for report in reports} == {4}


def test_topics_says_what_is_missing_and_creates_it(stack: Stack) -> None:
    bare = {"JUDGESTREAM_NAMESPACE": f"{stack.settings.namespace}-fresh"}
    missing = stack.command("topics", **bare)
    assert missing.returncode == 1
    assert "it is missing" in missing.stdout
    assert "judgestream topics --create" in missing.stdout
    created = stack.command("topics", "--create", "--json", **bare)
    assert created.returncode == 0, created.stderr
    assert all(topic["created"] and not topic["problems"] for topic in json.loads(created.stdout)["topics"])


def test_topics_says_what_differs(stack: Stack) -> None:
    other = stack.command("topics", "--partitions", "5")
    assert other.returncode == 1
    assert "it has 4 partitions, but the setting `partitions` is 5" in other.stdout


def test_the_doctor_finds_a_well_stack_well(stack: Stack) -> None:
    well = stack.command("doctor")
    assert well.returncode == 0, well.stdout
    assert "A worker can run." in well.stdout
    assert "none is running; start one with: judgestream worker" in well.stdout
    stack.start_worker()
    stack.wait_for(lambda: "1 running" in stack.command("doctor").stdout, "the doctor sees the worker")
    password = stack.settings.redis.split("@")[0].rsplit(":", 1)[1]
    assert password not in well.stdout
    assert stack.settings.judge_key not in well.stdout


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("JUDGESTREAM_KAFKA", "127.0.0.1:9", ["Kafka at 127.0.0.1:9 does not answer", "JUDGESTREAM_KAFKA"]),
        ("JUDGESTREAM_REDIS", "redis://127.0.0.1:9/0", ["Redis at redis://127.0.0.1:9/0 does not answer"]),
        ("JUDGESTREAM_NAMESPACE", "elsewhere", ["elsewhere.judgments.v1: it is missing", "topics --create"]),
        ("JUDGESTREAM_JUDGE_KEY", "", ["judge key", "openssl rand -hex 32"]),
    ],
)
def test_the_doctor_and_the_worker_say_what_is_missing(
    stack: Stack, variable: str, value: str, words: list[str]
) -> None:
    ill = stack.command("doctor", **{variable: value})
    assert ill.returncode == 1
    for word in words:
        assert word in ill.stdout
    worker = stack.command("worker", **{variable: value})
    assert worker.returncode == 1
    assert "Error: " in worker.stderr
    assert "Traceback" not in worker.stderr


def test_a_wrong_password_is_said_without_saying_it(stack: Stack) -> None:
    address = stack.settings.redis.rpartition("@")[2]
    worker = stack.command("worker", JUDGESTREAM_REDIS=f"redis://:hunter2@{address}")
    assert worker.returncode == 1
    assert "refuses the user or the password" in worker.stderr
    assert "hunter2" not in worker.stderr
