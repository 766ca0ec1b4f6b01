"""How something is measured: warm-up, repeats, CPU time and wall time."""

from __future__ import annotations

import gc
import time
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NamedTuple

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Timing(NamedTuple):
    """What one run took, in seconds. CPU is that of all threads, and of child processes that have ended."""

    wall: float
    cpu: float


def measure(run: Callable[[], object]) -> Timing:
    """Return what one run takes."""
    gc.collect()
    began, cpu = time.perf_counter(), cpu_seconds()
    run()
    return Timing(time.perf_counter() - began, cpu_seconds() - cpu)


def take_turns(
    runs: Mapping[str, Callable[[], object]], *, repeats: int, warm_up: int = 1
) -> dict[str, tuple[Timing, ...]]:
    """Return what each run takes, once per repeat.

    They take turns, and another one begins each time, so that a load on the machine concerns all of them.
    """
    for run in runs.values():
        for _ in range(warm_up):
            run()
    found: dict[str, list[Timing]] = {name: [] for name in runs}
    names = list(runs)
    for repeat in range(repeats):
        first = repeat % len(names)
        for name in names[first:] + names[:first]:
            found[name].append(measure(runs[name]))
    return {name: tuple(timings) for name, timings in found.items()}


def installed_version(package: str) -> str | None:
    """Return the version of a package, or None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children so far."""
    if resource is None:
        return time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
