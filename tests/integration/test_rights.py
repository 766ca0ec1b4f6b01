"""Least privilege: each role does its whole job with the rights that `deploy` gives it, and nothing else."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
import redis
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import TopicAuthorizationFailedError, for_code

from deploy.kafka_acls import ROLES, commands
from streams.settings import Settings
from streams.wire import topics
from streams.wire.events import encode
from tests.builders import crowd_log
from tests.integration.monitors import MonitorProcess, monitor_on
from tests.integration.secured import NOBODY, SecuredServers
from tests.integration.stack import Stack, done
from tests.monitor.site import JSON, SECRET
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration

CAMPAIGN = "campaign-0"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredServers]:
    running = SecuredServers(tmp_path_factory.mktemp("secured"))
    try:
        running.start()
        yield running
    finally:
        running.stop()


@pytest.fixture
def stack(secured: SecuredServers, namespace: str, tmp_path: Path) -> Iterator[Stack]:
    """A stack whose commands are given the login of a role, and whose tests look at everything as administrators."""
    secured.allow(namespace)
    settings = Settings(
        kafka=secured.kafka.address,
        redis=secured.redis_url("admin"),
        namespace=namespace,
        judge_key="a key for tests",
        partitions=2,
        snapshot_seconds=0.5,
        session_timeout_seconds=6,
    )
    stack = Stack(settings, tmp_path)
    try:
        yield stack
    finally:
        stack.stop()


def send(login: dict[str, Any], topic: str, records: list[tuple[bytes, bytes]]) -> None:
    async def run() -> None:
        producer = AIOKafkaProducer(**login)
        try:
            await producer.start()
            for key, value in records:
                await producer.send_and_wait(topic, value, key=key)
        finally:
            await producer.stop()

    asyncio.run(run())


def receive(login: dict[str, Any], topic: str, *, group: str) -> bytes:
    """Return the first record of a topic, read in a group."""

    async def run() -> bytes:
        options = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False}
        consumer = AIOKafkaConsumer(topic, **login, **options)
        try:
            await consumer.start()
            record = await consumer.getone()
            await consumer.commit()
            return bytes(record.value)
        finally:
            await consumer.stop()

    return asyncio.run(run())


def judgments(number: int, *, start: int = 0) -> list[tuple[bytes, bytes]]:
    return [(each.campaign.encode(), encode(each)) for each in crowd_log(start + number)[start:]]


def work(stack: Stack, secured: SecuredServers) -> None:
    stack.start_worker(**secured.environment("worker", redis_role="worker"))
    send(secured.login("platform"), stack.name(topics.JUDGMENTS), judgments(60))
    stack.wait_until_read(60)


def leaderboard(monitor: MonitorProcess) -> int:
    answer = monitor.ask(f"/campaigns/{CAMPAIGN}/leaderboard")
    return int(answer.json["judgments"]) if answer.status == 200 else -1


def test_every_role_does_its_whole_job(stack: Stack, secured: SecuredServers) -> None:
    operator = secured.environment("operator", redis_role="worker")
    assert stack.command("topics", "--create", **operator).returncode == 0
    work(stack, secured)
    with monitor_on(stack, port=0, **secured.environment("monitor", redis_role="monitor")) as monitor:
        wait_for(lambda: leaderboard(monitor) == 60, lambda: monitor.log.read_text()[-2000:])
        wait_for(monitor.is_ready, lambda: monitor.ask("/readyz").body.decode())
        posted = monitor.post(f"/campaigns/{CAMPAIGN}/judgments", json.loads(judgments(1, start=60)[0][1]))
        assert posted.status in (200, 202), posted
        wait_for(lambda: leaderboard(monitor) == 61)
        wait_for(lambda: len(monitor.get(f"/campaigns/{CAMPAIGN}/history")["samples"]) > 1)
        wait_for(lambda: monitor.post(f"/campaigns/{CAMPAIGN}/next-match", {"judge": "ann"}).status == 200)
        login = json.dumps({"token": SECRET}).encode()
        session = monitor.ask("/session", method="POST", body=login, headers=JSON)
        assert session.status < 300, session
        found = monitor.get("/status")
        assert [worker["silent"] for worker in found["workers"]] == [False]
        assert done(stack.command("campaign", "pause", CAMPAIGN, "--json", **operator))
        wait_for(lambda: monitor.get(f"/campaigns/{CAMPAIGN}")["state"] == "paused")
        result = stack.command("doctor", **operator)
        assert result.returncode == 0, result.stdout
    shown = stack.command("leaderboard", CAMPAIGN, "--json", **secured.environment("reader"))
    assert done(shown)["campaigns"][0]["judgments"] == 61
    board = receive(
        secured.login("reader"), stack.name(topics.LEADERBOARDS), group=f"{stack.settings.namespace}.reader-1"
    )
    assert json.loads(board)["campaign"] == CAMPAIGN
    rebuilt = stack.command("rebuild", "--all", "--dry-run", **operator)
    assert rebuilt.returncode == 0, rebuilt.stderr


def test_no_role_can_do_what_is_not_its_job_in_kafka(stack: Stack, secured: SecuredServers) -> None:
    work(stack, secured)
    for role in ("reader", NOBODY):
        with pytest.raises(TopicAuthorizationFailedError):
            send(secured.login(role), stack.name(topics.JUDGMENTS), judgments(1, start=60))
    with pytest.raises(TopicAuthorizationFailedError):
        send(secured.login("platform"), stack.name(topics.COMMANDS), [(b"c", b"{}")])
    with pytest.raises(TopicAuthorizationFailedError):
        send(secured.login("monitor"), stack.name(topics.LEADERBOARDS), [(b"c", b"{}")])
    with pytest.raises(TopicAuthorizationFailedError):
        receive(secured.login("platform"), stack.name(topics.REJECTED), group=f"{stack.settings.namespace}.platform-1")

    async def delete(role: str) -> str:
        admin = AIOKafkaAdminClient(**secured.login(role))
        await admin.start()
        try:
            response = await admin.delete_topics([stack.name(topics.JUDGMENTS)])
            return str(for_code(response.topic_error_codes[0][1]).__name__)
        finally:
            await admin.close()

    for role in ROLES:
        assert asyncio.run(delete(role)) == "TopicAuthorizationFailedError", role


@pytest.mark.parametrize("role", ["worker", "monitor", "reader"])
def test_no_role_can_do_what_is_not_its_job_in_redis(stack: Stack, secured: SecuredServers, role: str) -> None:
    refused: list[tuple[str, ...]] = [
        ("FLUSHALL",),
        ("KEYS", "*"),
        ("CONFIG", "GET", "*"),
        ("ACL", "LIST"),
        ("GET", "other"),
    ]
    meta = stack.store.keys.campaign(CAMPAIGN, "meta")
    if role != "worker":
        refused += [("HSET", meta, "offset", "1"), ("DEL", meta), ("DEL", stack.store.keys.workers)]
        refused += [("EVAL", "return redis.call('HSET', KEYS[1], 'offset', '1')", "1", meta)]
        refused += [("EVAL_RO", "return redis.call('HSET', KEYS[1], 'offset', '1')", "1", meta)]
    if role == "reader":
        refused += [("SET", stack.store.keys.session("s"), "t"), ("PUBLISH", "channel", "text")]
    with secured.redis_of(role) as client:
        for command in refused:
            with pytest.raises(redis.ResponseError, match=r"(?i)permission|ACL failure|not allowed|can't"):
                client.execute_command(*command)  # type: ignore[no-untyped-call]


def test_a_missing_right_is_named_and_nobody_waits_for_it_in_silence(stack: Stack, secured: SecuredServers) -> None:
    worker = stack.start_worker(**secured.environment(NOBODY, redis_role="worker"))
    worker.process.wait(60)
    assert worker.process.returncode == 1
    text = worker.log.read_text()
    assert "judgments.v1" in text
    assert f"user {NOBODY} may not see them" in text
    worker = stack.start_worker(**secured.environment("worker", redis_role="reader"))
    wait_for(lambda: worker.process.poll() is not None or "does not allow this to its user" in worker.log.read_text())
    assert "deploy/redis/users.acl" in worker.log.read_text()
    result = stack.command("campaign", "pause", CAMPAIGN, **secured.environment("reader"))
    assert result.returncode == 1
    assert "commands.v1" in result.stderr
    assert "user reader may not" in result.stderr
    with monitor_on(stack, port=0, **secured.environment(NOBODY, redis_role="monitor")) as monitor:
        wait_for(lambda: f"user {NOBODY} may not see them" in monitor.ask("/readyz").body.decode())


def test_the_printed_commands_name_every_right() -> None:
    for role, rights in ROLES.items():
        printed = list(commands(role, user="u", bootstrap="b:1", namespace="n", config="admin.properties"))
        assert len(printed) == len(rights)
        for right, command in zip(rights, printed, strict=True):
            assert f"--{right.resource} n.{right.name}" in command
            assert command.count("--operation") == len(right.operations)
            assert "--command-config admin.properties --add --allow-principal User:u" in command
            assert right.prefixed == ("--resource-pattern-type prefixed" in command)
