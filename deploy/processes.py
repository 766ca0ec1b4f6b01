"""Launch a server's process apart from the terminal, recognise it by pid and start time, and end it."""

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
# The shell ends at once, so init becomes the server's parent, and the server outlives the program that started it.
_LAUNCH = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'


@dataclass(frozen=True)
class Process:
    """A pid and a start time. The pid alone is not enough, because the system uses it again."""

    pid: int
    started: str

    def runs(self) -> bool:
        """Return whether this process still runs."""
        return start_time(self.pid) == self.started


def launch(command: Sequence[str], *, home: Path, log: Path) -> Process:
    """Start a program in `home` and in a new session. Its output is appended to `log`."""
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
    """Send SIGTERM, then SIGKILL after `patience` seconds. Another process with the same pid is left alone."""
    if patience > 0:
        _signal(process, signal.SIGTERM)
        if _gone(process, patience):
            return
    _signal(process, signal.SIGKILL)
    while not _gone(process, patience=1.0):
        pass


def start_time(pid: int) -> str | None:
    """Return an identifier of the start time of a process, or None if there is no such process or it is a zombie."""
    return _start_time_from_proc(pid) if _BOOT.exists() else _start_time_from_ps(pid)


def _start_time_from_proc(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the program's name, which may contain blanks and brackets. Count from its end.
    fields = stat.rpartition(b")")[2].split()
    state, threads, ticks_after_boot = fields[0], int(fields[17]), fields[19].decode()
    # The first thread of a killed process is a zombie while other threads still hold ports and files.
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
