"""A worker that is killed, stopped or hangs while judgments come is shown in time, until it is healed."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from streams.wire.events import encode
from tests.builders import crowd_log
from tests.faults.stack import state_of
from tests.integration.monitors import MonitorProcess, monitor_on
from tests.integration.stack import Stack
from tests.waiting import calm_time, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.stack import WorkerProcess

pytestmark = pytest.mark.integration

PROMISED_SECONDS = 10.0
# The worker reports as usual, but its rating thread never returns from the first batch.
HANGING = """
import threading
from streams.cli.main import cli
from streams.pipeline.processor import Processor
Processor.prepare = lambda *_: threading.Event().wait()
cli()
"""


@pytest.fixture
def monitor(stack: Stack) -> Iterator[MonitorProcess]:
    with monitor_on(stack) as monitor:
        yield monitor


def publish(stack: Stack, number: int, *, start: int = 0) -> None:
    stack.publish([(each.campaign.encode(), encode(each)) for each in crowd_log(start + number)[start:]])


def ready(monitor: MonitorProcess) -> bool:
    return monitor.ask("/readyz").status == 200


def wait_until_shown(stack: Stack, monitor: MonitorProcess, text: str) -> str:
    """Wait until the monitor is not ready for a reason. Return it, and check that it came in time."""
    began = calm_time()
    answer = ""

    def shown() -> bool:
        nonlocal answer
        answer = monitor.ask("/readyz").body.decode()
        return text in answer

    wait_for(shown, lambda: f"{answer}\n{stack.worker_logs()}\n{text!r} in /readyz", pause=0.1)
    assert monitor.ask("/readyz").status == 503
    assert monitor.ask("/healthz").status == 200, "the page stays"
    assert calm_time() - began <= PROMISED_SECONDS
    return answer


def work(stack: Stack, monitor: MonitorProcess) -> WorkerProcess:
    """Start a worker, and wait until it has applied some judgments and the monitor is ready."""
    worker = stack.start_worker()
    publish(stack, 100)
    stack.wait_until_read(100)
    stack.wait_for(lambda: ready(monitor), "the monitor is ready")
    return worker


def kill(worker: WorkerProcess) -> None:
    worker.process.kill()
    worker.process.wait()


def doctor(stack: Stack) -> tuple[int, dict[str, dict[str, Any]]]:
    result = stack.command("doctor", "--json")
    return result.returncode, {each["subject"]: each for each in json.loads(result.stdout)["findings"]}


def test_a_killed_worker_is_shown_with_what_to_do_until_another_one_works(
    stack: Stack, monitor: MonitorProcess
) -> None:
    worker = work(stack, monitor)
    kill(worker)
    publish(stack, 500, start=100)
    reason = wait_until_shown(stack, monitor, f"/{worker.process.pid} does not report any more")
    wait_for(lambda: "500 records wait in" in monitor.ask("/readyz").body.decode())
    assert "Start a worker: judgestream worker" in reason
    problem, *_ = monitor.get("/status")["problems"]
    assert problem["kind"] == "worker_silent"
    assert "judgestream_monitor_partitions_waiting 0.0" not in monitor.ask("/metrics").body.decode()
    code, found = doctor(stack)
    assert (code, found["workers"]["well"]) == (1, False)
    assert "500 records wait" in found["workers"]["found"]
    assert "judgestream worker" in found["workers"]["fix"]
    stack.start_worker()
    stack.wait_until_read(600)
    stack.wait_for(lambda: ready(monitor), "it is healed")
    code, found = doctor(stack)
    assert (code, found["workers"]["well"]) == (0, True)
    assert found["workers"]["found"].startswith("1 running; nothing waits")


def test_a_stopped_process_is_shown_and_is_well_again_when_it_goes_on(stack: Stack, monitor: MonitorProcess) -> None:
    worker = work(stack, monitor)
    worker.process.send_signal(signal.SIGSTOP)
    wait_for(lambda: state_of(worker) == "T")
    publish(stack, 50, start=100)
    try:
        wait_until_shown(stack, monitor, "does not report any more. It was killed, or it hangs.")
    finally:
        worker.process.send_signal(signal.SIGCONT)
    stack.wait_until_read(150)
    stack.wait_for(lambda: ready(monitor), "it is healed")


def test_a_rating_thread_that_hangs_is_shown_although_the_worker_reports(stack: Stack, monitor: MonitorProcess) -> None:
    worker = stack.start_worker(script=HANGING)
    stack.wait_for(lambda: any(each["open"] for each in monitor.get("/status")["workers"]), "it has its partitions")
    publish(stack, 50)
    reason = wait_until_shown(stack, monitor, f"/{worker.process.pid} does not finish the batch that it works on")
    assert "look at its log and restart it" in reason
    assert monitor.get("/status")["workers"][0]["silent"] is False
    code, found = doctor(stack)
    assert (code, found["workers"]["well"]) == (1, False)
    kill(worker)
    stack.start_worker()
    stack.wait_until_read(50)
    stack.wait_for(lambda: ready(monitor), "it is healed")


def test_without_a_worker_only_waiting_records_are_a_problem(stack: Stack, monitor: MonitorProcess) -> None:
    worker = work(stack, monitor)
    worker.terminate()
    wait_for(lambda: monitor.get("/status")["workers"] == [], "it has removed its report")
    wait_for(lambda: [note["kind"] for note in monitor.get("/status")["notes"]] == ["no_worker"])
    assert ready(monitor)
    publish(stack, 10, start=100)
    reason = wait_until_shown(stack, monitor, "No worker is running, and records wait.")
    assert "10 records wait in" in reason
    code, found = doctor(stack)
    assert (code, found["workers"]["well"]) == (1, False)
    assert found["workers"]["found"].startswith("No worker is running, and records wait.")
