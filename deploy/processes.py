"""A server's process: launched apart from the terminal, known again by pid and start time, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_POLL_SECONDS = 0.05
# The shell ends at once and leaves the server to init: being nobody's child, it outlives who asked for it.
_LAUNCH = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'


@dataclass(frozen=True)
class Process:
    """A pid with the time it started, because the system gives a dead process's pid to another."""

    pid: int
    started: str

    def runs(self) -> bool:
        """Tell whether this very process is still there."""
        return start_time(self.pid) == self.started


def launch(command: Sequence[str], *, home: Path, log: Path) -> Process:
    """Start a program in `home`, in a session of its own, with all that it prints added to `log`."""
    shell = subprocess.run(
        ["/bin/sh", "-c", _LAUNCH, "launch", str(log), *command],
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=True,
    )
    pid = int(shell.stdout)
    return Process(pid, start_time(pid) or "died at once")


def end(process: Process, *, patience: float) -> None:
    """Ask a process to end, and kill it if it has not after `patience` seconds; strangers are left alone."""
    if patience > 0:
        _signal(process, signal.SIGTERM)
        if _gone(process, patience):
            return
    _signal(process, signal.SIGKILL)
    while not _gone(process, patience=1.0):
        pass


def start_time(pid: int) -> str | None:
    """Give when a process started, as no later one will have; None where there is none, or a zombie."""
    return _start_time_from_proc(pid) if _BOOT.exists() else _start_time_from_ps(pid)


def _start_time_from_proc(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the program's name, which may hold blanks and brackets: count from its end.
    fields = stat.rpartition(b")")[2].split()
    state, threads, ticks_after_boot = fields[0], int(fields[17]), fields[19].decode()
    # The first thread of a killed process is a zombie while the others still hold its ports and files.
    if state in (b"Z", b"X") and threads <= 1:
        return None
    return f"{_BOOT.read_text().strip()} {ticks_after_boot}"


def _start_time_from_ps(pid: int) -> str | None:
    shown = subprocess.run(
        ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    ).stdout
    state, _, started = shown.strip().partition(" ")
    return None if not started or state.startswith("Z") else started.strip()


def _signal(process: Process, number: signal.Signals) -> None:
    if process.runs():
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def _gone(process: Process, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while process.runs():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
