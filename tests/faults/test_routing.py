"""Records on the wrong partition, and more partitions than before: on a real Kafka every judgment counts once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec
import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions

from streams.kafka.partitions import partition_of
from streams.wire import topics
from streams.wire.events import Close, Pause, Rejection, encode
from tests.builders import NOON, crowd_log, judgment

if TYPE_CHECKING:
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration

CAMPAIGNS = 6


def state_of(stack: FaultStack, campaign: str) -> str:
    meta = stack.store.read_meta(campaign)
    assert meta is not None
    return meta.status.state


def homes(stack: FaultStack, campaigns: set[str]) -> dict[str, str]:
    return {name: stack.store.read_head(name).get("partition", "") for name in sorted(campaigns)}


def count(stack: FaultStack, field: str) -> int:
    return sum(int(stack.store.read_partition(name).get(field, 0)) for name in stack.partitions)


def add_partitions(stack: FaultStack, total: int) -> None:
    """Raise the number of partitions of the log and of the commands, as an operator would."""

    async def run() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=stack.settings.kafka)
        await admin.start()
        try:
            names = [stack.name(topics.JUDGMENTS), stack.name(topics.COMMANDS)]
            await admin.create_partitions({name: NewPartitions(total) for name in names})
        finally:
            await admin.close()

    asyncio.run(run())


def test_judgments_of_a_producer_with_the_partitioner_of_librdkafka_count_once(stack: FaultStack) -> None:
    log = crowd_log(240, campaigns=CAMPAIGNS, seed=51)
    stack.start_worker()
    stack.publish([(entry.campaign.encode(), encode(entry)) for entry in log[:60]])
    stack.wait_until_read(60)
    places = homes(stack, {entry.campaign for entry in log})
    misrouted = 0
    for number in range(4):
        mine = [entry for entry in log[60:] if crc32(entry.campaign.encode()) % 4 == number]
        misrouted += sum(places[entry.campaign] != stack.partitions[number] for entry in mine)
        stack.send(number, [(entry.campaign.encode(), encode(entry)) for entry in mine])
    assert misrouted, "crc32 and murmur2 differ for some of these campaigns"
    stack.wait_until_read(240 + misrouted)
    assert stack.applied() == {entry.id for entry in log}
    assert count(stack, "forwarded") == misrouted
    assert stack.values(topics.REJECTED) == []
    assert homes(stack, set(places)) == places
    found = stack.command("doctor")
    assert "partitioner=murmur2_random" in found.stdout, found.stdout
    # The whole state can be made again from the log, and nothing counts twice.
    rebuilt = stack.command("rebuild", "--all", "--dry-run")
    assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr


def test_with_more_partitions_campaigns_stay_and_every_record_finds_its_way(stack: FaultStack) -> None:
    old = crowd_log(120, campaigns=CAMPAIGNS, seed=52)
    new = [
        msgspec.structs.replace(entry, id=f"new-{entry.id}", campaign=f"later-{entry.campaign}")
        for entry in crowd_log(120, campaigns=CAMPAIGNS, seed=53)
    ]
    stack.start_worker()
    stack.publish([(entry.campaign.encode(), encode(entry)) for entry in old[:60]])
    stack.wait_until_read(60)
    places = homes(stack, {entry.campaign for entry in old})
    moved = [name for name in places if not places[name].endswith(f"/{partition_of(name, 8)}")]
    assert moved, "some campaigns hash to other partitions now"

    add_partitions(stack, 8)
    stack.settings = msgspec.structs.replace(stack.settings, partitions=8)
    stack.publish([(entry.campaign.encode(), encode(entry)) for entry in (*old[60:], *new)])
    pause = Pause(id="pause", campaign=moved[0], at=NOON)
    stack.publish([(pause.campaign.encode(), encode(pause))], topics.COMMANDS)
    wanted = {entry.id for entry in (*old, *new)} | {"command:pause"}
    stack.wait_for(lambda: stack.applied() == wanted, "all judgments of old and new campaigns")
    assert state_of(stack, moved[0]) == "paused"
    assert count(stack, "forwarded") == sum(entry.campaign in moved for entry in old[60:]) + 1
    assert homes(stack, set(places)) == places
    used = set(homes(stack, {entry.campaign for entry in new}).values())
    assert used & set(stack.partitions[4:]), "new campaigns use the new partitions"
    assert count(stack, "rejected") == 0

    # Commands that ask for the partitions ask the broker, whatever the setting is.
    few = {"JUDGESTREAM_PARTITIONS": "4"}
    assert "12 stored" in stack.command("doctor", **few).stdout
    rebuilt = stack.command("rebuild", "--all", "--dry-run", **few)
    assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr
    close = Close(id="close", campaign=moved[0], at=NOON)
    sent = stack.command("campaign", "close", close.campaign, "--yes", **few)
    assert sent.returncode == 0, sent.stdout + sent.stderr


def test_an_event_from_the_future_is_rejected_on_the_real_stack(stack: FaultStack) -> None:
    now = datetime.now(UTC)
    fast = judgment(2, at=now + timedelta(minutes=20))
    log = [judgment(1, at=now), fast, judgment(3, at=now + timedelta(minutes=2))]
    worker = stack.start_worker()
    stack.publish([(b"c", encode(entry)) for entry in log])
    early = Pause(id="early", campaign="c", at=now + timedelta(days=1))
    stack.publish([(b"c", encode(early))], topics.COMMANDS)
    stack.wait_until_read(3)
    stack.wait_for(lambda: len(stack.values(topics.REJECTED)) == 2, "the rejections")
    found = [msgspec.json.decode(value, type=Rejection) for value in stack.values(topics.REJECTED)]
    assert {(each.reason, each.judgment) for each in found} == {("in_the_future", "id-2"), ("in_the_future", "early")}
    assert stack.applied() == {"id-1", "id-3"}
    stack.assert_undisturbed(records=3)
    # The log decides, not a clock: a later reading gives the same.
    assert worker.process.poll() is None
    rebuilt = stack.command("rebuild", "--all", "--dry-run")
    assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr


def test_after_the_loss_of_redis_nothing_is_forwarded_again_and_the_state_is_the_same(redis_stack: FaultStack) -> None:
    stack, log = redis_stack, crowd_log(160, campaigns=3, seed=54)
    stack.more["JUDGESTREAM_SEEN_IDS"] = "10"  # a judgment that came twice would count twice
    worker = stack.start_worker()
    stack.publish([(entry.campaign.encode(), encode(entry)) for entry in log[:10]])
    stack.wait_until_read(10)
    for number in range(4):
        stack.send(number, [(None, encode(entry)) for entry in log[10 + number :: 4]])
    stack.wait_for(lambda: count(stack, "read") == 160 + count(stack, "forwarded") > 160, "all are forwarded and read")
    before, ends = stack.hash(), stack.persisted()
    stack.kill(worker)
    stack.empty_redis()
    stack.start_worker()
    stack.wait_for(lambda: stack.persisted() == ends, "the log is read again")
    assert stack.hash() == before

    # A replay knows them all, wherever they are.
    file = stack.folder / "votes.jsonl"
    file.write_bytes(b"\n".join(encode(entry) for entry in log))
    assert stack.command("replay", str(file), "--kafka", stack.settings.kafka).returncode == 0
    assert stack.persisted() == ends
