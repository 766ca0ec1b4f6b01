"""How the cost of a judgment grows: with judgments, systems, judges and campaigns; and how long a recovery takes.

The costs are those of the worker's processor in this process, without servers. One log of up to 10 million judgments is
rated in one go, and the cost at N is that of the judgments from N / 2 to N; up to 100,000 it is the median of nine
logs. For the other curves a log of at most 100,000 judgments is rated for each size (of judges: as many as judges).
Match requests are chosen after each 10,000 judgments, and a leaderboard follows, except for campaigns. A recovery opens
a partition and loads all its campaigns from a real Redis, which is started for it.

    python benchmarks/growth.py
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command `judgestream` does, before numpy is loaded

from benchmarks.emitting import emit  # noqa: E402
from deploy.servers import Servers  # noqa: E402
from streams.bench.embedded import EmbeddedRun  # noqa: E402
from streams.bench.figures import Figure  # noqa: E402
from streams.bench.synthetic_log import CHUNK, SyntheticLog  # noqa: E402
from streams.stores.redis.store import RedisStore  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

JUDGMENTS = (10_000, 100_000, 1_000_000, 10_000_000)
SHORT, SHORT_RUNS = JUDGMENTS[:2], 9
CURVES: dict[str, tuple[int, ...]] = {
    "systems": (10, 20, 50, 100, 200, 500, 1000),
    "judges": (10, 100, 1000, 10_000, 100_000, 1_000_000),
    "campaigns": (1, 10, 100, 1000, 10_000),
}
LOG, SHORT_LOG = 100_000, 20_000  # judgments for each number of systems or judges; of campaigns
RECOVERIES: dict[str, tuple[int, ...]] = {
    "judgments": (10_000, 100_000, 1_000_000),
    "judges": (1000, 10_000, 100_000),
    "campaigns": (10, 100, 1000),
}
COST, BOARD, RECOVERY = "CPU per judgment", "CPU per leaderboard", "recovery"
GROWTH = "cost at 10,000,000 judgments, to that at 100,000"


def log_of(kind: str, size: int) -> SyntheticLog:
    """Return a log in which one quantity has a size."""
    if kind == "judgments":
        return SyntheticLog(size)
    count = SHORT_LOG if kind == "campaigns" else max(LOG, size if kind == "judges" else 0)
    options: dict[str, Any] = {kind: size}
    return SyntheticLog(count, **options)


def by_judgments(most: int) -> dict[int, float]:
    """Return the CPU per judgment in µs at each number of judgments. Short logs take too little time for one run."""
    found = {count: median(costs(count, (count,))[count] for _ in range(SHORT_RUNS)) for count in SHORT if count < most}
    return found | costs(most, [count for count in JUDGMENTS if count <= most and count not in found])


def costs(count: int, at: Sequence[int]) -> dict[int, float]:
    """Return the CPU per judgment in µs at some numbers of judgments of one log, each from half of it on."""
    taken = [0.0, *accumulate(timing.cpu for timing in EmbeddedRun(SyntheticLog(count)).steps())]
    found = {}
    for each in at:
        half, end = each // CHUNK // 2, each // CHUNK
        found[each] = (taken[end] - taken[half]) / (end - half) / CHUNK * 1e6
    return found


def until(seconds: float, repeats: int, run: Callable[[], dict[str, float]]) -> Iterator[dict[str, float]]:
    """Yield what some repeats give, fewer if they take long."""
    began = time.perf_counter()
    for _ in range(repeats):
        yield run()
        if time.perf_counter() - began > seconds:
            return


def by_size(kind: str, size: int) -> dict[str, float]:
    """Return the CPU per judgment in µs, and that of the leaderboard in ms."""
    log = log_of(kind, size)
    run = EmbeddedRun(log)
    found = {COST: run.rate().cpu / log.count * 1e6}
    # The leaderboard of one campaign costs the same among others.
    return found if kind == "campaigns" else found | {BOARD: run.settle().cpu * 1e3}


def recovery(kind: str, size: int, store: RedisStore) -> dict[str, float]:
    """Return the seconds until a partition is open and all its campaigns are loaded."""
    run = EmbeddedRun(log_of(kind, size), store=store)
    run.rate()
    return {RECOVERY: run.recover().wall}


def measure(*, most: int, repeats: int, seconds: float) -> list[Figure]:
    """Return all curves. With a smaller `most`, all sizes are smaller in proportion to the largest."""
    share = most / JUDGMENTS[-1]
    by_size("judgments", CHUNK)  # compiles
    runs = [by_judgments(most) for _ in range(repeats)]
    figures = [
        Figure(name=f"{COST}, by judgments", unit="µs", size=count, values=tuple(run[count] for run in runs))
        for count in runs[0]
    ]
    if most >= JUDGMENTS[-1]:
        ratios = tuple(run[JUDGMENTS[-1]] / run[100_000] for run in runs)
        figures.append(Figure(name=GROWTH, unit="times", values=ratios, at_most=1.2))
    units = {COST: "µs", BOARD: "ms", RECOVERY: "s"}

    def add(kind: str, size: int, run: Callable[[], dict[str, float]]) -> None:
        rows = list(until(seconds, repeats, run))
        for name in rows[0]:
            values = tuple(row[name] for row in rows)
            figures.append(Figure(name=f"{name}, by {kind}", unit=units[name], size=size, values=values))

    for kind, sizes in CURVES.items():
        for size in (each for each in sizes if each <= max(200, sizes[-1] * share)):
            add(kind, size, lambda kind=kind, size=size: by_size(kind, size))  # type: ignore[misc]
    with tempfile.TemporaryDirectory(prefix="judgestream-bench-") as folder:
        servers = Servers(Path(folder))
        try:
            address = servers.start("redis")["JUDGESTREAM_REDIS"]
            for kind, sizes in RECOVERIES.items():
                for size in (each for each in sizes if each <= max(1000, sizes[-1] * share)):
                    names = iter(range(repeats))
                    add(
                        kind,
                        size,
                        lambda kind=kind, size=size, names=names: recovery(  # type: ignore[misc]
                            kind, size, RedisStore(address, namespace=f"{kind}-{size}-{next(names)}")
                        ),
                    )
        finally:
            servers.stop()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=JUDGMENTS[-1], help="judgments at most (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="runs (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="a size that takes longer is not repeated (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    emit(measure(most=chosen.most, repeats=chosen.repeats, seconds=chosen.seconds), as_json=chosen.json)


if __name__ == "__main__":
    main()
