"""A worker that dies while it suspends judges: they are suspended all the same, once."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from streams.wire import topics
from tests.integration.test_suspensions import BAD_VOTES, begin, board, pseudonyms, rows_of, suspended, suspensions
from tests.pipeline.test_suspensions import COLLUDERS
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from tests.faults.stack import FaultStack

pytestmark = pytest.mark.integration

# Dies when it has flagged judges, before or after it sends the command that suspends them.
CRASH = """
import os, signal
from streams.cli.main import main
from streams.worker import judge_checks, rater

make, emit = judge_checks.make_suspension, rater.Rater.emit

def make_and_die(*arguments, **more):
    command = make(*arguments, **more)
    if command is not None and "MOMENT" == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    return command

async def emit_and_die(self, outputs, ownership=None):
    await emit(self, outputs, ownership)
    if any(output.topic == "commands.v1" for output in outputs) and "MOMENT" == "after":
        os.kill(os.getpid(), signal.SIGKILL)

judge_checks.make_suspension, rater.Rater.emit = make_and_die, emit_and_die
main()
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_kill_9_between_flag_and_suspension_changes_nothing(stack: FaultStack, moment: str) -> None:
    begin(stack, script=CRASH.replace("MOMENT", moment), auto="auto")
    assert stack.workers[0].process.wait(PATIENCE_SECONDS) == -signal.SIGKILL, stack.worker_logs()
    assert suspended(stack, "auto") == []
    assert len(stack.values(topics.COMMANDS)) == (moment == "after")
    stack.start_worker()
    stack.wait_for(lambda: suspended(stack, "auto") == pseudonyms(stack), "the colluders are suspended")
    shown = board(stack, "auto")
    assert list(shown.rows) == rows_of(stack, "auto", without=COLLUDERS)
    assert shown.left_out["suspended"] == BAD_VOTES
    assert {command.id for command in suspensions(stack)} == {suspensions(stack)[0].id}
    stack.assert_undisturbed()
