"""Records that are deleted before they are read: the partition stops and says so, and an operator has the last word."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete

from deploy.ports import free_port
from streams.kafka.partitions import partition_of
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.stores.memory import MemoryStore
from streams.wire import topics
from streams.wire.events import encode
from tests.builders import judgment
from tests.faults.stack import resume, state_of
from tests.integration.monitors import monitor_on
from tests.integration.stack import done
from tests.integration.test_health import asked
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from streams.pipeline.record import Record
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration

COUNT = 4  # partitions of the stack
# One campaign for each partition, with its number.
CAMPAIGNS = {partition_of(name, COUNT): name for name in (f"campaign-{number}" for number in range(40))}


def publish(stack: FaultStack, start: int, end: int, *numbers: int) -> None:
    """Publish judgments on partitions, one campaign on each. The offsets are those from start to before end."""
    for number in numbers:
        name = CAMPAIGNS[number]
        entries = [
            judgment(each, campaign=name, systems=(f"s{each % 5}", f"s{each % 7 + 5}")) for each in range(start, end)
        ]
        stack.publish([(name.encode(), encode(entry)) for entry in entries])


def delete_before(stack: FaultStack, number: int, offset: int) -> None:
    """Delete the beginning of a partition, as Kafka does when the retention of a log ends."""

    async def delete() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=stack.settings.kafka)
        await admin.start()
        try:
            partition = TopicPartition(stack.name(topics.JUDGMENTS), number)
            await admin.delete_records({partition: RecordsToDelete(before_offset=offset)})
        finally:
            await admin.close()

    asyncio.run(delete())


def head(stack: FaultStack, number: int) -> dict[str, int]:
    found = stack.store.read_partition(stack.partitions[number])
    return {name: int(found.get(name, 0)) for name in ("offset", "read", "missing", "empty")}


def expected(stack: FaultStack, *, before: dict[int, list[Record]], gap: tuple[int, int]) -> MemoryStore:
    """Run the records that were read in process, with an accepted gap in the first partition."""
    store, start, end = MemoryStore(), *gap
    options = ProcessorOptions.from_settings(stack.settings)
    for number, records in stack.read(topics.JUDGMENTS).items():
        processor, _ = Processor.open(stack.name(topics.JUDGMENTS), number, store, options)
        if number == 0:
            processor.process([record for record in before[0] if record.offset < start])
            processor.skip(start, end)
            assert store.accept_gap(stack.partitions[0], start, end)
            processor.skip(start, end)
        processor.process(records)
    return store


def assert_every_offset_is_counted(stack: FaultStack) -> None:
    counts = {"read": 0, "applied": 0}
    for number in range(COUNT):
        found = head(stack, number)
        assert found["offset"] == found["read"] + found["missing"] + found["empty"], found
        counts["read"] += found["read"]
    for name in stack.store.list_campaigns(stack.partitions):
        meta = stack.store.read_meta(name)
        assert meta is not None
        each = meta.counts
        counts["applied"] += each.judgments + each.commands + each.duplicates + each.rejected + each.held
    assert counts["read"] == counts["applied"]


def test_records_deleted_while_the_worker_was_stopped_stop_their_partition_until_it_is_accepted(
    stack: FaultStack,
) -> None:
    port = free_port(besides=())
    more = {"JUDGESTREAM_HEALTH_PORT": str(port), "JUDGESTREAM_BATCH_RECORDS": "2000"}
    worker = stack.start_worker(**more)
    publish(stack, 0, 1000, 0, 1)
    stack.wait_until_read(2000)
    worker.terminate()
    before = stack.read(topics.JUDGMENTS)
    publish(stack, 1000, 31_000, 0)
    publish(stack, 1000, 1200, 1)
    delete_before(stack, 0, 25_000)

    worker = stack.start_worker(**more)
    place = f"{stack.partitions[0]}:1000-25000"
    stack.wait_for(lambda: head(stack, 1)["offset"] == 1200, "the other partition goes on")
    stack.wait_for(lambda: place in asked(port, "/readyz")[1], f"the gap is named: {asked(port, '/readyz')}")
    status, text = asked(port, "/readyz")
    assert status == 503
    assert text.startswith(f"{stack.partitions[0]} is stopped: the records of {stack.partitions[0]} from offset 1000")
    assert asked(port, "/healthz") == (200, "ok")
    metrics = asked(port, "/metrics")[1]
    assert "judgestream_worker_partitions_stopped 1.0" in metrics
    assert 'judgestream_worker_lag_records{partition="0"} 30000.0' in metrics, "what waits stays visible"
    assert head(stack, 0) == {"offset": 1000, "read": 1000, "missing": 0, "empty": 0}
    assert worker.log.read_text().count("is stopped") == 1, stack.worker_logs()

    stack.wait_for(lambda: len(stack.store.read_gaps(stack.partitions[0])) == 1, "the gap is stored")
    doctor = stack.command("doctor")
    assert doctor.returncode == 1
    assert f"judgestream gaps --accept {place}" in doctor.stdout
    with monitor_on(stack) as monitor:
        stack.wait_for(lambda: monitor.get("/status")["partitions"] != [], "the monitor knows the log")
        partitions = monitor.get("/status")["partitions"]
        assert f"judgestream gaps --accept {place}" in partitions[0]["stopped"]
        assert [each["stopped"] for each in partitions[1:]] == [None, None, None]
    refused = stack.command("gaps", "--accept", place)
    assert refused.returncode == 2, "nobody confirmed it"
    assert stack.command("gaps").returncode == 1
    accepted = stack.command("gaps", "--accept", place, "--yes")
    assert accepted.returncode == 0, accepted.stderr

    stack.wait_for(lambda: head(stack, 0)["offset"] == 31_000, "the partition goes on without a restart")
    stack.wait_for(lambda: asked(port, "/readyz") == (200, "ok"), "ready again")
    metrics = asked(port, "/metrics")[1]
    assert "judgestream_worker_records_missing_total 24000.0" in metrics
    assert "judgestream_worker_partitions_stopped 0.0" in metrics
    assert head(stack, 0) == {"offset": 31_000, "read": 7000, "missing": 24_000, "empty": 0}
    assert_every_offset_is_counted(stack)
    assert worker.terminate() < 10

    worker = stack.start_worker(**more)
    publish(stack, 31_000, 31_100, 0)
    stack.wait_for(lambda: head(stack, 0)["offset"] == 31_100, "a restart after it needs no other word")
    assert head(stack, 0) == {"offset": 31_100, "read": 7100, "missing": 24_000, "empty": 0}
    (row,) = done(stack.command("gaps", "--json"))["gaps"]
    assert (row["start"], row["end"], row["missing"]) == (1000, 25_000, 24_000)
    assert row["accepted"] is not None
    assert stack.hash() == state_hash(expected(stack, before=before, gap=(1000, 25_000)), stack.partitions)
    assert worker.process.poll() is None


def test_records_deleted_while_the_worker_is_behind_stop_their_partition(stack: FaultStack) -> None:
    """The worker is frozen meanwhile, so what it has fetched lies before the gap, and is rated."""
    worker = stack.start_worker()
    publish(stack, 0, 20_000, 0)
    publish(stack, 0, 100, 1)
    stack.wait_until_read(400)
    os.kill(worker.process.pid, signal.SIGSTOP)
    stack.wait_for(lambda: state_of(worker) == "T", "it is stopped")
    publish(stack, 20_000, 30_000, 0)
    delete_before(stack, 0, 29_000)
    before = head(stack, 0)["offset"]
    assert before < 20_000, "it was stopped too late"
    resume(worker)
    stack.wait_for(lambda: worker.said("is stopped, the other partitions go on"), "the gap is found")
    stack.wait_for(lambda: len(stack.store.read_gaps(stack.partitions[0])) == 1, "the gap is stored")
    (gap,) = stack.store.read_gaps(stack.partitions[0])
    assert before <= gap.start < 29_000 == gap.end
    assert head(stack, 0) == {"offset": gap.start, "read": gap.start, "missing": 0, "empty": 0}
    publish(stack, 100, 200, 1)
    stack.wait_for(lambda: head(stack, 1)["offset"] == 200, "the other partition goes on")
    assert stack.store.accept_gap(stack.partitions[0], gap.start, gap.end)
    stack.wait_for(lambda: head(stack, 0)["offset"] == 30_000, "the partition goes on")
    missing = gap.end - gap.start
    assert head(stack, 0) == {"offset": 30_000, "read": 30_000 - missing, "missing": missing, "empty": 0}
    assert_every_offset_is_counted(stack)
    assert worker.process.poll() is None


def test_a_log_that_was_emptied_is_noticed_by_an_idle_worker_and_by_the_next_owner(stack: FaultStack) -> None:
    worker = stack.start_worker()
    publish(stack, 0, 100, 0)
    stack.wait_until_read(100)
    os.kill(worker.process.pid, signal.SIGSTOP)
    stack.wait_for(lambda: state_of(worker) == "T", "it is stopped")
    publish(stack, 100, 300, 0)
    delete_before(stack, 0, 300)
    resume(worker)
    stack.wait_for(lambda: len(stack.store.read_gaps(stack.partitions[0])) == 1, "the gap is found")
    first = head(stack, 0)["offset"]  # a fetch that was under way may have brought the records before it
    place = f"{stack.partitions[0]}:{first}-300"
    stack.wait_for(lambda: worker.said(f"--accept {place}"), "the gap is named")
    assert head(stack, 0) == {"offset": first, "read": first, "missing": 0, "empty": 0}

    other = stack.start_worker()
    stack.wait_for(lambda: other.said("is open at offset"), "two workers share the partitions")
    assert worker.terminate() < 10, "a stopped partition does not hold up the end"
    assert worker.process.returncode == 0
    stack.wait_for(lambda: other.said(f"--accept {place}"), "the next owner stops there too")
    assert stack.store.accept_gap(stack.partitions[0], first, 300)
    stack.wait_for(lambda: head(stack, 0)["missing"] == 300 - first, "the next owner goes on")
    publish(stack, 300, 310, 0)
    stack.wait_for(lambda: head(stack, 0)["offset"] == 310, "and reads")
    assert head(stack, 0) == {"offset": 310, "read": first + 10, "missing": 300 - first, "empty": 0}
    assert_every_offset_is_counted(stack)


def test_a_fresh_state_on_a_log_without_its_beginning_needs_a_word_too(stack: FaultStack) -> None:
    publish(stack, 0, 100, 0)
    delete_before(stack, 0, 40)
    stack.start_worker()
    place = f"{stack.partitions[0]}:0-40"
    stack.wait_for(lambda: len(stack.store.read_gaps(stack.partitions[0])) == 1, "the gap is stored")
    assert head(stack, 0)["offset"] == 0
    accepted = stack.command("gaps", "--accept", place, "--yes")
    assert accepted.returncode == 0, accepted.stderr
    stack.wait_for(lambda: head(stack, 0)["offset"] == 100, "the partition goes on")
    assert head(stack, 0) == {"offset": 100, "read": 60, "missing": 40, "empty": 0}
    assert_every_offset_is_counted(stack)
