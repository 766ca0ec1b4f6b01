"""Workers that crash, freeze, come and go: the state is that of an undisturbed run, to the last bit."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING

import pytest

from streams.wire import topics
from streams.wire.events import encode
from tests.builders import crowd_log
from tests.faults.load import Load
from tests.faults.stack import resume, state_of
from tests.integration.test_worker import published
from tests.state_hash import state_hash
from tests.waiting import PATIENCE_SECONDS, calm_time

if TYPE_CHECKING:
    from tests.faults.stack import FaultStack
    from tests.integration.stack import WorkerProcess

pytestmark = pytest.mark.integration

# The one time that is a promise: while the group changes, no partition with lag stands still for longer.
LONGEST_STALL_SECONDS = 15.0


def test_kill_9_five_times_loses_and_doubles_nothing(stack: FaultStack) -> None:
    records = published(8000, seed=11)
    stack.publish(records)
    stack.kill_workers(5, records=len(records))
    stack.assert_undisturbed(records=len(records))


# Freezes the worker between rating a batch and writing it: from there it goes on as a zombie.
FREEZE = """
import os, signal
from streams.worker import batches
from streams.cli.main import main

persist, calls = batches.persist_all, 0

def persist_after_a_freeze(rated):
    global calls
    calls += 1
    if calls == 15:
        os.kill(os.getpid(), signal.SIGSTOP)
    return persist(rated)

batches.persist_all = persist_after_a_freeze
main()
"""


def test_a_worker_that_was_stopped_and_goes_on_as_a_zombie_writes_nothing(stack: FaultStack) -> None:
    records = published(8000, seed=12)
    stack.publish(records)
    zombie = stack.start_worker(script=FREEZE)
    stack.wait_for(lambda: state_of(zombie) == "T", "the worker is frozen")
    frozen = stack.caught_midway(len(records))
    heir = stack.start_worker()
    stack.wait_until_read(frozen + 500)
    assert heir.said("is open at offset")
    stack.caught_midway(len(records))
    resume(zombie)
    refused = re.compile(r"epoch \d+ is over")
    stack.wait_for(lambda: refused.search(zombie.log.read_text()) is not None, "the zombie's write is refused")
    stack.wait_until_read(len(records))
    assert (zombie.process.poll(), heir.process.poll()) == (None, None)
    stack.assert_undisturbed(records=len(records))


def test_one_to_three_to_one_workers_under_load_and_nothing_stalls(stack: FaultStack) -> None:
    log = crowd_log(9000, campaigns=8, seed=13)
    # The load must last longer than the workers need to come and go, also on a slow machine; repeats are duplicates.
    records = [(entry.campaign.encode(), encode(entry)) for entry in log] * 20
    stall = Stalls()
    with Load(stack, records, per_second=300) as load:

        def watch() -> bool:
            stall.look(stack.persisted(), load.ends)
            return True

        first = stack.start_worker()
        stack.wait_for(lambda: watch() and stack.records_read() > 100, "the first worker reads")
        stall.begin()
        others = [stack.start_worker(), stack.start_worker()]
        stack.wait_for(lambda: watch() and all_have_parts(others), "three workers share")
        shared = stack.records_read()
        stack.wait_for(lambda: watch() and stack.records_read() > shared + 500, "three workers read")
        assert load.goes_on, "the load ended before the workers did: this shows nothing"
        for worker in others:
            worker.process.terminate()
        stack.wait_for(
            lambda: watch() and all(worker.process.poll() is not None for worker in others), "two workers have left"
        )
        left = stack.records_read()
        stack.wait_for(lambda: watch() and stack.records_read() > left + 500, "one worker reads on")
        assert load.goes_on, "the load ended before the workers did: this shows nothing"
        load.stop()
        stack.wait_for(lambda: watch() and stack.records_read() == len(load.acknowledged), "all is read")
    assert [worker.process.returncode for worker in others] == [0, 0]
    assert first.process.poll() is None
    stack.assert_undisturbed(records=len(load.acknowledged))
    assert stall.longest < LONGEST_STALL_SECONDS, (
        f"a partition with lag stood still for {stall.longest:.1f} s while workers came and went; "
        f"the promise is {LONGEST_STALL_SECONDS:.0f} s"
    )


class Stalls:
    """The longest time in which a partition's offset did not move although its log went on."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._moved: defaultdict[int, float] = defaultdict(calm_time)
        self._at: dict[int, int] = {}

    def begin(self) -> None:
        """Forget what was before: nothing stalls while no worker has started yet."""
        self.longest = 0.0

    def look(self, persisted: dict[int, int], ends: dict[int, int]) -> None:
        now = calm_time()
        for partition, offset in persisted.items():
            if offset != self._at.get(partition) or offset >= ends.get(partition, 0):
                self._at[partition], self._moved[partition] = offset, now
            self.longest = max(self.longest, now - self._moved[partition])


# Dies when a batch is persisted and none, or some, of its outputs are sent; FILE then holds all of them.
CRASH = """
import json, os
from streams.cli.main import main
from streams.worker import rater

emit, batches = rater.Rater.emit, 0

async def emit_and_die(self, outputs, ownership=None):
    global batches
    batches += bool(outputs)
    if batches <= 10 or len(outputs) < 4 or not any(output.topic == "rejected.v1" for output in outputs):
        return await emit(self, outputs, ownership)
    sent = outputs[: int(len(outputs) * SHARE)]
    await emit(self, sent, ownership)
    with open("FILE", "w") as file:
        json.dump([(output.topic, output.value.hex()) for output in outputs], file)
    os._exit(7)

rater.Rater.emit = emit_and_die
main()
"""


def test_a_crash_between_persist_and_emit_delays_the_outputs_and_loses_none(stack: FaultStack) -> None:
    records = published(6000, seed=14)
    stack.publish(records)
    awaited: set[tuple[str, bytes]] = set()
    for number, share in enumerate((0.0, 0.5)):
        file = stack.folder / f"outputs-{number}.json"
        doomed = stack.start_worker(script=CRASH.replace("SHARE", str(share)).replace("FILE", str(file)))
        assert doomed.process.wait(PATIENCE_SECONDS) == 7, stack.worker_logs()
        stack.caught_midway(len(records))
        outputs = {(topic, bytes.fromhex(value)) for topic, value in json.loads(file.read_text())}
        sent = outputs & emitted(stack)
        assert bool(sent) == bool(share)
        assert sent < outputs
        awaited |= outputs
    stack.start_worker()
    stack.wait_until_read(len(records))
    expected = stack.assert_undisturbed(records=len(records))
    stack.wait_for(lambda: awaited <= emitted(stack), "the outputs that the crashes held back")

    # What was sent twice is the same to the last byte: its id is enough to drop it by.
    distinct = emitted(stack)
    for topic in (topics.RATINGS, topics.MATCH_REQUESTS, topics.REJECTED):
        events = [json.loads(value) for name, value in distinct if name == topic.name]
        ids = Counter((event["id"], event.get("cancelled")) for event in events)
        assert ids.most_common(1)[0][1] == 1
    campaigns = [expected.read(campaign) for campaign in expected.list_campaigns(stack.partitions)]
    own = sum(json.loads(stored.meta)["counts"].get("rejected", 0) for stored in campaigns if stored is not None)
    others = sum(int(expected.read_partition(name).get("rejected", 0)) for name in stack.partitions)
    assert len([name for name, _ in distinct if name == topics.REJECTED.name]) == own + others > 0


def emitted(stack: FaultStack) -> set[tuple[str, bytes]]:
    """Read all that was emitted, each distinct value once."""
    outputs = (topics.RATINGS, topics.MATCH_REQUESTS, topics.CAMPAIGNS, topics.REJECTED)
    return {(topic.name, value) for topic in outputs for value in stack.values(topic)}


def test_sigterm_under_load_ends_within_ten_seconds_and_loses_nothing(stack: FaultStack) -> None:
    records = published(8000, seed=15)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(400)
    took = worker.terminate()
    assert worker.process.returncode == 0, stack.worker_logs()
    assert took < 10, f"SIGTERM to exit took {took:.1f} s; the promise is 10 s"
    stack.caught_midway(len(records))
    stack.assert_same(stack.undisturbed(stack.persisted()))
    stack.start_worker()
    stack.wait_until_read(len(records))
    stack.assert_undisturbed(records=len(records))


def all_have_parts(workers: list[WorkerProcess]) -> bool:
    return all(worker.said("is open at offset") for worker in workers)


def test_batch_sizes_and_the_number_of_workers_do_not_show(redis_stack: FaultStack) -> None:
    stack = redis_stack
    log = [(entry.campaign.encode(), encode(entry)) for entry in crowd_log(1500, campaigns=8, seed=16)]
    records = [*log[:1000], *log[:200:3], *log[1000:]]
    hashes = {}
    for sizes in ((1, 7, 1000), (1,), (7,), (1000,)):
        workers = []
        for size in sizes:
            stack.more = {"JUDGESTREAM_BATCH_RECORDS": str(size)}
            workers.append(stack.start_worker())
        if len(workers) > 1:
            stack.wait_for(partial(all_have_parts, workers), "each worker has a part of the log")
            stack.publish(records)
        stack.wait_until_read(len(records))
        hashes[sizes] = stack.hash()
        for worker in workers:
            worker.terminate()
        stack.empty_redis()
    expected = state_hash(stack.undisturbed(), stack.partitions)
    assert hashes == dict.fromkeys(hashes, expected)
