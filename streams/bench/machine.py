"""A description of the machine, because a figure means nothing without it."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from multiprocessing import cpu_count
from pathlib import Path

from msgspec import Struct

PROC = Path("/proc")
QUIET = 0.1  # share of the cores
LOOK_SECONDS = 0.3
STEPS = 1_000_000


class Machine(Struct, frozen=True, kw_only=True):
    """What a benchmark ran on. An empty text or zero means that the system does not tell."""

    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str
    judgestream: str
    load: float  # runnable processes in the last minute, also those of an earlier benchmark
    busy: float | None = None  # share of the cores that other programs used just before; None: not known
    step_ns: float | None = None  # time of one step of a plain loop: a virtual machine is not always equally fast

    def describe(self) -> str:
        """Return one line."""
        busy = "" if self.busy is None else f", {self.busy:.0%} busy before"
        speed = "" if self.step_ns is None else f", {self.step_ns:.0f} ns per step of a Python loop"
        memory = f", {self.memory_gib:.0f} GiB" if self.memory_gib else ""
        return (
            f"{self.processor or 'unknown processor'}, {self.cores} core{'s' * (self.cores != 1)}{memory}, "
            f"{self.system}, "
            f"Python {self.python}, judgestream {self.judgestream}, load {self.load:.1f}{busy}{speed}"
        )

    @property
    def is_quiet(self) -> bool:
        """Whether other programs left the machine to the benchmark, as far as it is known."""
        return self.load <= self.cores if self.busy is None else self.busy <= QUIET


def describe_machine() -> Machine:
    """Return the processor, cores, memory, versions and load of this machine."""
    return Machine(
        processor=_field("cpuinfo", "model name") or platform.processor(),
        cores=cpu_count(),
        memory_gib=round(int((_field("meminfo", "MemTotal") or "0").split()[0]) / 2**20, 1),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        judgestream=version("judgestream"),
        load=float((_text("loadavg") or "0").split()[0]),
        busy=_busy_share(),
        step_ns=min(_time_step() for _ in range(3)),
    )


def _time_step() -> float:
    """Return the nanoseconds of one step of a plain loop."""
    total, began = 0, time.perf_counter_ns()
    for number in range(STEPS):
        total += number
    return round((time.perf_counter_ns() - began) / STEPS, 1)


def _busy_share() -> float | None:
    """Return the share of the cores that is used, over a moment in which this program sleeps."""
    before = _ticks()
    time.sleep(LOOK_SECONDS)
    used, total = (after - earlier for after, earlier in zip(_ticks(), before, strict=True))
    return round(used / total, 3) if total else None


def _ticks() -> tuple[int, int]:
    """Return the used and all clock ticks of all cores: user nice system idle iowait irq softirq steal."""
    ticks = [int(each) for each in _text("stat").partition("\n")[0].split()[1:9]]
    return sum(ticks) - sum(ticks[3:5]), sum(ticks)


def _text(file: str) -> str:
    path = PROC / file
    return path.read_text() if path.exists() else ""


def _field(file: str, name: str) -> str:
    lines = (line.partition(":") for line in _text(file).splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")
