"""SIGTERM while something hangs: the worker ends in time all the same, and the next one loses nothing."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.integration.test_worker import published

if TYPE_CHECKING:
    from deploy.servers import Servers
    from tests.faults.conftest import StackOn
    from tests.faults.stack import FaultStack
    from tests.integration.stack import WorkerProcess

pytestmark = pytest.mark.integration

# The worker promises ten seconds. A busy machine is slower, and a client of a broker that is away waits for minutes.
STOP_SECONDS = 30.0
BLOCKED_LOOP = """
import time
from streams.worker.source import BatchSource
describe = BatchSource._describe
def block(self):
    describe(self)
    if self.count_campaigns():
        print("is blocked", flush=True)
        time.sleep(1000)
BatchSource._describe = block
"""
MAIN = "from streams.cli.main import main\nmain()\n"


def stop(worker: WorkerProcess, stack: FaultStack) -> None:
    worker.process.send_signal(signal.SIGTERM)
    assert worker.process.wait(STOP_SECONDS) == 0, stack.worker_logs()
    assert worker.said("did not stop within"), stack.worker_logs()


def assert_the_next_worker_goes_on(stack: FaultStack, records: int) -> None:
    worker = stack.start_worker()
    stack.wait_until_read(records)
    stack.assert_undisturbed(records=records)
    assert worker.terminate() < STOP_SECONDS
    assert worker.process.returncode == 0
    assert not worker.said("did not stop within"), "a worker whose servers answer stops in order"


def test_a_worker_ends_while_the_broker_is_frozen(stack_on: StackOn, own: Servers) -> None:
    stack, records = stack_on(kafka=own.start("kafka")["JUDGESTREAM_KAFKA"]), published(8000, seed=36)
    stack.publish(records)
    worker = stack.start_worker()
    stack.wait_until_read(400)
    broker = own.running()["kafka"].process
    assert broker is not None
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        stack.caught_midway(len(records))
        stop(worker, stack)
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    assert_the_next_worker_goes_on(stack, len(records))


def test_a_worker_ends_whose_event_loop_hangs(stack: FaultStack) -> None:
    records = published(400, seed=37)
    stack.publish(records)
    worker = stack.start_worker(script=BLOCKED_LOOP + MAIN)
    stack.wait_for(lambda: worker.said("is blocked"), "the event loop is blocked")
    stop(worker, stack)
    assert_the_next_worker_goes_on(stack, len(records))
