"""A worker that is stopped before its outputs are sent, and wakes up when another one has gone on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.wire import topics
from streams.wire.events import Rating, encode
from tests.builders import judgment
from tests.faults.stack import resume, state_of

if TYPE_CHECKING:
    from tests.faults.stack import FaultStack
    from tests.integration.stack import WorkerProcess

pytestmark = pytest.mark.integration

# Stops the worker between two steps of a batch. It then goes on as a zombie.
FREEZE = """
import os, signal
from streams.cli.main import main
from streams.worker import batches
from streams.worker.rater import Rater

persist, emit, calls, frozen = batches.persist_all, Rater.emit, 0, False

def freeze():
    global frozen
    if calls >= 15 and not frozen:
        frozen = True
        os.kill(os.getpid(), signal.SIGSTOP)

def persist_and_count(rated):
    global calls
    seconds = persist(rated)
    calls += 1
    BEFORE_CHECK
    return seconds

async def emit_after_a_freeze(self, *arguments, **more):
    AFTER_CHECK
    return await emit(self, *arguments, **more)

batches.persist_all, Rater.emit = persist_and_count, emit_after_a_freeze
main()
"""
CAMPAIGN = "campaign-0"


def publish(stack: FaultStack, start: int, end: int, systems: tuple[str, str]) -> None:
    entries = [judgment(number, campaign=CAMPAIGN, systems=systems) for number in range(start, end)]
    stack.publish([(CAMPAIGN.encode(), encode(entry)) for entry in entries])


def ratings(stack: FaultStack) -> dict[str, list[int]]:
    """Return the offsets of the ratings of each system, in the order of their topic."""
    found: dict[str, list[int]] = {}
    for value in stack.values(topics.RATINGS):
        rating = msgspec.json.decode(value, type=Rating)
        found.setdefault(rating.system, []).append(rating.offset)
    return found


def wake_up_late(stack: FaultStack, zombie: WorkerProcess) -> None:
    """Let another worker take over and go on, then wake the stopped one up, and wait until it is in the group again."""
    stack.wait_for(lambda: state_of(zombie) == "T", "the worker is stopped")
    heir = stack.start_worker()
    publish(stack, 100, 200, ("a", "b"))
    publish(stack, 200, 220, ("c", "d"))  # the last batches have nothing of the others
    stack.wait_until_read(220)
    stack.wait_for(lambda: ratings(stack)["d"][-1] == 219, "the heir has emitted all")
    opened = zombie.log.read_text().count("is open at offset")
    resume(zombie)
    stack.wait_for(
        lambda: zombie.log.read_text().count("is open at offset") > opened, "the zombie is back in the group"
    )
    assert (zombie.process.poll(), heir.process.poll()) == (None, None)


def start_zombie(stack: FaultStack, *, stopped: str) -> WorkerProcess:
    places = {place: "freeze()" if place == stopped else "pass" for place in ("BEFORE_CHECK", "AFTER_CHECK")}
    script = FREEZE
    for place, line in places.items():
        script = script.replace(place, line)
    zombie = stack.start_worker(script=script, JUDGESTREAM_BATCH_RECORDS="2")
    publish(stack, 0, 100, ("a", "b"))
    return zombie


def test_a_worker_stopped_between_persist_and_emit_emits_nothing_after_it_was_replaced(stack: FaultStack) -> None:
    zombie = start_zombie(stack, stopped="BEFORE_CHECK")
    wake_up_late(stack, zombie)
    for system, offsets in ratings(stack).items():
        assert offsets == sorted(offsets), f"{system}: an older rating came after a newer one"
    stack.assert_undisturbed(records=220)


def test_outputs_that_were_on_their_way_when_the_worker_was_stopped_are_followed_by_newer_ones(
    stack: FaultStack,
) -> None:
    zombie = start_zombie(stack, stopped="AFTER_CHECK")
    wake_up_late(stack, zombie)
    stack.wait_for(lambda: all(found[-1] == max(found) for found in ratings(stack).values()), "the newest is the last")
    found = ratings(stack)["a"]
    assert found != sorted(found), "the zombie was stopped too late or too early, and this shows nothing"
    said = "a former owner has emitted outputs late"
    stack.wait_for(lambda: any(worker.said(said) for worker in stack.workers), "it was repeated on purpose")
    stack.wait_for(lambda: not any(map(stack.store.read_late, stack.partitions)), "the report is dealt with")
    stack.assert_undisturbed(records=220)
