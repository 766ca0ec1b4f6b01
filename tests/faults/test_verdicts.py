"""Workers that die while judges change their verdicts: the board follows all the same, exactly."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import msgspec
import pytest

from streams.pipeline.embedded import Embedded
from streams.wire import topics
from streams.wire.events import Leaderboard, Retract, encode
from tests.integration.stack import done
from tests.pipeline.test_verdicts import NAME, changing_log, last_versions, opened
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration

LOG = [opened(100), *changing_log(3000, changes=200, far=500)]

# Sends the commands soon. Dies before or after it has sent the first one, or in the middle of a batch.
WORKER = """
import os, signal
from streams.cli.main import main
from streams.pipeline import taking_back
from streams.worker import rater, taking_back as service

taking_back.WAIT_SECONDS = 0.2
service.is_due = lambda now, **more: now >= more["first"] + 0.2
make, emit = service.make_retractions, rater.Rater.emit

def make_and_die(*arguments, **more):
    if "MOMENT" == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    return make(*arguments, **more)

async def emit_and_die(self, outputs, ownership=None):
    await emit(self, outputs, ownership)
    if any(output.topic.endswith("commands.v1") for output in outputs) and "MOMENT" == "after":
        os.kill(os.getpid(), signal.SIGKILL)

service.make_retractions, rater.Rater.emit = make_and_die, emit_and_die
main()
"""


def is_settled(stack: FaultStack) -> bool:
    """Return whether nothing of the campaign waits any more."""
    meta = stack.store.read_meta(NAME)
    if meta is None or meta.status.quarantine is not None or meta.verdicts.waiting:
        return False
    ends = {partition: len(records) for partition, records in stack.read(topics.JUDGMENTS).items()}
    return meta.verdicts.begun and sum(ends.values()) == stack.records_read()


def rows(stack: FaultStack) -> list[object]:
    (found,) = msgspec.convert(done(stack.command("leaderboard", NAME, "--json"))["campaigns"], list[Leaderboard])
    return [(row.system, row.score, row.rank_low, row.rank_high, row.judgments) for row in found.rows]


def expected_rows(stack: FaultStack) -> list[object]:
    """Return the rows of the log without the earlier verdicts, rated in process."""
    stream = Embedded(stack.settings)
    for event in last_versions(LOG):
        stream.publish(event)
    stream.run()
    found = stream.campaign(NAME).leaderboard().rows
    return [(row.system, row.score, row.rank_low, row.rank_high, row.judgments) for row in found]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_kill_9_before_or_after_the_command_changes_nothing(stack: FaultStack, moment: str) -> None:
    stack.publish([(event.campaign.encode(), encode(event)) for event in LOG])
    stack.start_worker(script=WORKER.replace("MOMENT", moment))
    assert stack.workers[0].process.wait(PATIENCE_SECONDS) == -signal.SIGKILL, stack.worker_logs()
    stack.start_worker(script=WORKER)
    stack.wait_for(lambda: is_settled(stack), "all changed verdicts are taken back")
    assert rows(stack) == expected_rows(stack)
    stack.assert_undisturbed()


def test_kill_9_while_verdicts_are_changed_and_taken_back_changes_nothing(stack: FaultStack) -> None:
    records = [(event.campaign.encode(), encode(event)) for event in LOG]
    stack.start_worker(script=WORKER)
    for part in range(3):
        stack.publish(records[part * 1000 : (part + 1) * 1000])
        stack.wait_until_read(part * 1000 + 500)
        stack.kill(stack.workers[-1])
        stack.start_worker(script=WORKER)
    stack.publish(records[3000:])
    stack.wait_for(lambda: is_settled(stack), "all changed verdicts are taken back")
    assert rows(stack) == expected_rows(stack)
    commands = [msgspec.json.decode(value) for value in stack.values(topics.JUDGMENTS)]
    assert [each for each in commands if each.get("action") == Retract.__struct_config__.tag]
    stack.assert_undisturbed()
