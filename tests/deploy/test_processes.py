from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deploy import processes
from deploy.processes import Process, end, launch, start_time
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FIRST_THREAD_ENDS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=[60]).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Launches programs, and ends them after the test."""
    mine: list[Process] = []

    def start(*command: str) -> Process:
        mine.append(launch(command, home=tmp_path, log=tmp_path / "log"))
        return mine[-1]

    yield start
    for process in mine:
        end(process, patience=0)


def ticks(pid: int) -> int:
    return int((start_time(pid) or "").rpartition(" ")[2])


def test_a_launched_process_has_a_session_of_its_own_and_is_nobodys_child(
    started: Callable[..., Process],
) -> None:
    process = started("sleep", "60")
    assert process.runs()
    assert os.getsid(process.pid) != os.getsid(0)
    assert os.getpgid(process.pid) != os.getpgid(0)
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)


def test_what_a_launched_process_prints_is_added_to_its_log(started: Callable[..., Process], tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before\n")
    started("sh", "-c", "echo out; echo err >&2; pwd -P")
    expected = f"before\nout\nerr\n{tmp_path.resolve()}\n"
    wait_for(lambda: (tmp_path / "log").read_text() == expected)


def test_a_process_ends_when_it_is_asked(started: Callable[..., Process], tmp_path: Path) -> None:
    process = started("sh", "-c", "trap 'echo asked; exit' TERM; echo up; while :; do sleep 0.05; done")
    wait_for(lambda: "up" in (tmp_path / "log").read_text())
    end(process, patience=10)
    assert not process.runs()
    assert "asked" in (tmp_path / "log").read_text()


def test_a_process_that_does_not_listen_is_killed(started: Callable[..., Process], tmp_path: Path) -> None:
    process = started("sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done")
    wait_for(lambda: "up" in (tmp_path / "log").read_text())
    end(process, patience=0.3)
    assert not process.runs()


def test_without_patience_a_process_is_killed_at_once(started: Callable[..., Process], tmp_path: Path) -> None:
    process = started("sh", "-c", "trap 'echo asked; exit' TERM; echo up; while :; do sleep 0.05; done")
    wait_for(lambda: "up" in (tmp_path / "log").read_text())
    end(process, patience=0)
    assert not process.runs()
    assert (tmp_path / "log").read_text() == "up\n"


@pytest.mark.parametrize("patience", [0.0, 0.1])
def test_a_pid_with_another_start_time_is_left_alone(started: Callable[..., Process], patience: float) -> None:
    process = started("sleep", "60")
    stranger = Process(process.pid, "another time")
    assert not stranger.runs()
    end(stranger, patience=patience)
    assert process.runs()


def test_a_zombie_does_not_run() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        process = Process(child.pid, start_time(child.pid) or "")
        assert process.runs()
        child.kill()
        wait_for(lambda: not process.runs())


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells threads apart")
def test_a_process_runs_until_its_last_thread_has_ended(started: Callable[..., Process], tmp_path: Path) -> None:
    process = started(sys.executable, "-c", FIRST_THREAD_ENDS)
    wait_for(lambda: b") Z " in Path(f"/proc/{process.pid}/stat").read_bytes())
    assert process.runs()
    end(process, patience=0)
    assert not process.runs()


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc shows the name before the time")
def test_a_program_may_have_blanks_and_brackets_in_its_name(started: Callable[..., Process], tmp_path: Path) -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    shutil.copy(sleep, tmp_path / "a ) b (c")
    process = started(str(tmp_path / "a ) b (c"), "60")
    wait_for(lambda: b"(a ) b (c)" in Path(f"/proc/{process.pid}/stat").read_bytes())
    assert process.runs()
    assert ticks(process.pid) > ticks(os.getpid())


@pytest.mark.skipif(shutil.which("ps") is None, reason="ps is not installed")
def test_ps_knows_a_process_again_where_there_is_no_proc(
    started: Callable[..., Process], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "_BOOT", tmp_path / "no such file")
    process = started("sleep", "60")
    assert process.started.count(":") == 2
    assert process.runs()
    end(process, patience=5)
    assert not process.runs()
