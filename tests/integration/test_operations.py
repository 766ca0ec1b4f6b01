"""What an operator sees: topics created and checked, a doctor, and words where a server is away."""

from __future__ import annotations

import asyncio
import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from deploy import jars
from streams.kafka.admin import inspect_topics
from streams.wire.topics import JUDGMENTS, RATINGS, TOPICS

if TYPE_CHECKING:
    from streams.wire.topics import Topic
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


def configure(stack: Stack, kind: ConfigResourceType, name: str, config: dict[str, str]) -> None:
    """Give a topic or a broker this configuration in place of the one that it has."""

    async def alter() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=stack.settings.kafka)
        await admin.start()
        try:
            await admin.alter_configs([ConfigResource(kind, name, config)])
        finally:
            await admin.close()

    asyncio.run(alter())


def change(stack: Stack, topic: Topic, key: str, value: str) -> None:
    """Change one value of a topic's configuration, and wait until the broker shows it."""
    configure(stack, ConfigResourceType.TOPIC, stack.name(topic), topic.config_with(1) | {key: value})

    def has_problems() -> bool:
        return any(report.problems for report in inspect_topics(stack.settings) if report.topic is topic)

    stack.wait_for(has_problems, "the broker shows the new configuration")


def test_a_log_that_kafka_may_delete_is_refused_until_the_command_has_repaired_it(stack: Stack) -> None:
    change(stack, JUDGMENTS, "retention.bytes", "1000000")
    log = stack.name(JUDGMENTS)
    command = (
        f"kafka-configs.sh --bootstrap-server {stack.settings.kafka} --alter --entity-type topics "
        f"--entity-name {log} --add-config retention.bytes=-1"
    )
    topics, doctor, worker = stack.command("topics"), stack.command("doctor"), stack.command("worker")
    assert (topics.returncode, doctor.returncode, worker.returncode) == (1, 1, 1)
    for said in (topics.stdout, doctor.stdout, worker.stderr):
        assert log in said
        assert "retention.bytes is 1000000, should be -1" in said
        assert command in said
    assert "Traceback" not in worker.stderr
    java = [jars.java(), "-cp", f"{jars.cache_folder()}/*", "kafka.admin.ConfigCommand"]
    subprocess.run([*java, *command.split()[1:]], check=True, capture_output=True)
    repaired = stack.command("topics")
    assert repaired.returncode == 0, repaired.stdout
    running = stack.start_worker()
    stack.wait_for(lambda: running.said("is open at offset 0"), "the worker starts")
    assert not running.said("WARNING")


def test_a_worker_warns_of_other_deviations_and_runs(stack: Stack) -> None:
    change(stack, RATINGS, "cleanup.policy", "delete")
    worker = stack.start_worker()
    stack.wait_for(lambda: worker.said("is open at offset 0"), "the worker starts")
    assert worker.said(f"{stack.name(RATINGS)}: cleanup.policy is delete, should be compact; repair it with: kafka-con")
    assert worker.said("--add-config cleanup.policy=compact")


def test_a_default_of_the_brokers_counts_where_the_topic_has_no_value_of_its_own(stack: Stack) -> None:
    """The topics that `topics --create` made have all values of their own."""
    bare = f"{stack.settings.namespace}-bare"

    async def create_bare() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=stack.settings.kafka)
        await admin.start()
        try:
            names = [topic.within(bare) for topic in TOPICS]
            await admin.create_topics([NewTopic(name, num_partitions=4, replication_factor=1) for name in names])
        finally:
            await admin.close()

    configure(stack, ConfigResourceType.BROKER, "1", {"log.retention.bytes": "1000000"})
    try:
        asyncio.run(create_bare())
        assert stack.command("topics").returncode == 0
        worker = stack.command("worker", JUDGESTREAM_NAMESPACE=bare)
        assert worker.returncode == 1
        assert "retention.ms is 604800000, should be -1; retention.bytes is 1000000, should be -1" in worker.stderr
    finally:
        configure(stack, ConfigResourceType.BROKER, "1", {})


def test_a_worker_leaves_nothing_in_the_folder_in_which_it_runs(stack: Stack) -> None:
    """So its root may be read-only."""
    before = set(stack.folder.iterdir())
    worker = stack.start_worker()
    stack.publish([(b"c", b"not an event")])
    stack.wait_until_read(1)
    worker.terminate()
    assert set(stack.folder.iterdir()) - before == {worker.log}
    assert not worker.said("Starting..."), "nor what Faust tells of itself in its log"


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
