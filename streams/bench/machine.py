"""A description of the machine, because a figure means nothing without it."""

from __future__ import annotations

import platform
from importlib.metadata import version
from multiprocessing import cpu_count
from pathlib import Path

from msgspec import Struct

PROC = Path("/proc")


class Machine(Struct, frozen=True, kw_only=True):
    """What a benchmark ran on. An empty text or zero means that the system does not tell."""

    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str
    judgestream: str
    load: float  # runnable processes in the last minute, before the benchmark

    def describe(self) -> str:
        """Return one line."""
        memory = f", {self.memory_gib:.0f} GiB" if self.memory_gib else ""
        return (
            f"{self.processor or 'unknown processor'}, {self.cores} core{'s' * (self.cores != 1)}{memory}, "
            f"{self.system}, "
            f"Python {self.python}, judgestream {self.judgestream}, load {self.load:.1f}"
        )


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
    )


def _text(file: str) -> str:
    path = PROC / file
    return path.read_text() if path.exists() else ""


def _field(file: str, name: str) -> str:
    lines = (line.partition(":") for line in _text(file).splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")
