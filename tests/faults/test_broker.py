"""A Kafka that dies, is out of reach, or is not the one that it was."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.group import LeaveGroupRequest

from deploy.ports import HOST, free_port
from streams.kafka.admin import create_topics
from streams.wire import topics
from streams.wire.events import encode
from tests.builders import crowd_log
from tests.faults.kafka import proxied_kafka
from tests.faults.load import Load
from tests.integration.test_health import asked
from tests.integration.test_worker import published

if TYPE_CHECKING:
    from pathlib import Path

    from deploy.servers import Servers
    from tests.faults.conftest import StackOn
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration

BLACKHOLE_SECONDS = 30.0


def test_kill_9_of_the_broker_loses_no_acknowledged_judgment(stack_on: StackOn, own: Servers) -> None:
    stack = stack_on(kafka=own.start("kafka")["JUDGESTREAM_KAFKA"])
    log = crowd_log(4000, campaigns=8, seed=31)
    records = [(entry.campaign.encode(), encode(entry)) for entry in log]
    worker = stack.start_worker()
    stack.wait_for(lambda: worker.said("is open at offset"), "the worker is there before the load begins")
    with Load(stack, records, per_second=1000) as load:
        stack.wait_until_read(400)
        own.kill("kafka")
        caught = len(load.acknowledged)
        assert caught < len(records), "the broker was killed too late for this to show anything"
        own.start("kafka")
        load.finish()
    assert sorted(load.acknowledged) == list(range(len(records)))
    stack.wait_until_read(sum(len(records) for records in stack.read(topics.JUDGMENTS).values()))
    assert {entry.id for entry in log} <= stack.applied()
    assert worker.process.poll() is None, stack.worker_logs()
    stack.assert_undisturbed()


def test_a_broker_out_of_reach_for_30_seconds_is_waited_for(stack_on: StackOn, tmp_path: Path) -> None:
    with proxied_kafka(tmp_path / "kafka") as proxy:
        stack, records = stack_on(kafka=f"{HOST}:{proxy.port}"), published(8000, seed=32)
        stack.publish(records)
        worker = stack.start_worker()
        stack.wait_until_read(400)
        with proxy.blackhole():
            time.sleep(BLACKHOLE_SECONDS)
            stack.caught_midway(len(records))
            silent = f"Kafka at {HOST}:{proxy.port} does not answer"
            stack.wait_for(lambda: worker.said(silent), "the worker says that Kafka does not answer")
        stack.wait_until_read(len(records))
        assert worker.process.poll() is None
        stack.assert_undisturbed(records=len(records))


def test_a_rebalance_of_the_commands_group_alone_does_not_touch_the_rating(stack_on: StackOn) -> None:
    stack, records = stack_on(batch=2), published(5000, seed=35)
    stack.publish(records)
    stack.start_worker()
    for number in range(1, 4):
        stack.wait_until_read(number * 1000)
        asyncio.run(throw_out(stack, f"{stack.settings.namespace}.judgestream"))
        stack.caught_midway(len(records))
    stack.wait_until_read(len(records))
    stack.assert_undisturbed(records=len(records))


async def throw_out(stack: FaultStack, group: str) -> None:
    """Remove all members from a consumer group. They notice at the next heartbeat and join again."""
    admin = AIOKafkaAdminClient(bootstrap_servers=stack.settings.kafka)
    await admin.start()
    try:
        (described,) = await admin.describe_consumer_groups([group])
        members = [member[0] for member in described.groups[0][5]]
        node = await admin.find_coordinator(group)
        for member in members:
            await admin._send_request(LeaveGroupRequest(group, member), node)
    finally:
        await admin.close()


def recreate(stack: FaultStack) -> None:
    """Delete the log and make it anew, as somebody might who wants to begin again."""

    async def delete() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=stack.settings.kafka)
        await admin.start()
        try:
            await admin.delete_topics([stack.name(topics.JUDGMENTS)])
            while stack.name(topics.JUDGMENTS) in await admin.list_topics():  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.05)
        finally:
            await admin.close()

    asyncio.run(delete())
    assert create_topics(stack.settings) == [stack.name(topics.JUDGMENTS)]


@pytest.mark.parametrize("size", ["fewer", "more"])
@pytest.mark.parametrize("when", ["while the worker runs", "before it starts"])
def test_a_log_that_was_deleted_and_made_anew_is_refused(stack: FaultStack, when: str, size: str) -> None:
    """The partitions stop until the old records are back. The worker lives on, and the state stays."""
    records, port = published(1000, seed=33), free_port(besides=())
    stack.publish(records)
    worker = stack.start_worker(JUDGESTREAM_HEALTH_PORT=str(port))
    stack.wait_until_read(len(records))
    before = stack.hash()
    if when == "before it starts":
        worker.terminate()
    recreate(stack)
    stack.publish(published(200 if size == "fewer" else 3000, seed=34))
    if when == "before it starts":
        worker = stack.start_worker(JUDGESTREAM_HEALTH_PORT=str(port))
    # A broker deletes a topic in its own time, and the group learns of the new one when it looks again.
    used = [stack.partitions[number] for number, offset in stack.persisted().items() if offset]
    stack.wait_for(lambda: all(f"{name} is stopped" in asked(port, "/readyz")[1] for name in used), f"{used} stop")
    status, problem = asked(port, "/readyz")
    assert status == 503
    assert "is not the log" in problem
    assert "a namespace of its own" in problem
    assert asked(port, "/healthz") == (200, "ok")
    assert not worker.said("Traceback"), stack.worker_logs()
    assert stack.hash() == before

    recreate(stack)
    stack.publish(records)
    stack.wait_for(lambda: asked(port, "/readyz") == (200, "ok"), "the old records are back")
    longer = published(1400, seed=33)
    assert longer[: len(records)] == records
    stack.publish(longer[len(records) :])
    stack.wait_until_read(len(longer))
    stack.assert_undisturbed(records=len(longer))
    assert worker.terminate() < 10
