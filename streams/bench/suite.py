"""The benchmarks of `judgestream bench`, each a section of the results."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from streams.bench.embedded import EmbeddedRun
from streams.bench.figures import Figure, Section
from streams.bench.machine import describe_machine
from streams.bench.peers import compare
from streams.bench.rank_files import rank_files
from streams.bench.synthetic_log import SyntheticLog

if TYPE_CHECKING:
    from collections.abc import Callable

CAMPAIGNS = 12  # of the embedded log


def rate_embedded(count: int, *, repeats: int) -> list[Figure]:
    """Return what one judgment costs in this process, with everything except the servers."""
    EmbeddedRun(SyntheticLog(min(count, 20_000), campaigns=CAMPAIGNS)).rate()  # compiles
    timings = [EmbeddedRun(SyntheticLog(count, campaigns=CAMPAIGNS)).rate() for _ in range(repeats)]
    note = f"{count:,} judgments, {CAMPAIGNS} campaigns"
    return [
        Figure(name="CPU", unit="µs per judgment", values=tuple(each.cpu / count * 1e6 for each in timings), note=note),
        Figure(name="rate", unit="judgments/s", values=tuple(count / each.wall for each in timings), note=note),
    ]


SECTIONS: dict[str, Callable[..., list[Figure]]] = {
    "embedded": rate_embedded,  # the walk of a judgment, without servers
    "peers": compare,  # one comparison in memory
    "files": rank_files,  # the command `rank`
}


def run_section(measure: Callable[[], list[Figure]], *, quick: bool = False) -> Section:
    """Run a benchmark. Return its figures with the machine and the time."""
    machine, began = describe_machine(), time.perf_counter()
    figures = tuple(measure())
    return Section(
        machine=machine,
        measured_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        figures=figures,
        quick=quick,
        seconds=round(time.perf_counter() - began, 1),
    )
