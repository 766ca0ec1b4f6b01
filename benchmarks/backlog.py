"""Workers on a backlog: memory while 2,000,000 judgments are rated, the costs of the servers, and a second worker.

On a real Kafka and Redis on this machine, in 12 campaigns, one per partition. The workers have joined their group and
stand still (SIGSTOP) while the log is published. Rates are those from 20 to 90 % of the judgments: the kernels are
loaded, and no worker has finished.

    pip install -e '.[bench]'
    python benchmarks/backlog.py
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.emitting import emit  # noqa: E402
from benchmarks.stream_log import CAMPAIGNS, cpu_seconds, publish_many  # noqa: E402
from benchmarks.worker_runs import Run, Sample, between, take_samples, waiting_workers  # noqa: E402
from deploy import state  # noqa: E402
from deploy.servers import Servers  # noqa: E402
from streams.bench.figures import Figure  # noqa: E402
from streams.bench.synthetic_log import SyntheticLog  # noqa: E402
from streams.kafka.admin import create_topics  # noqa: E402
from streams.kafka.partitions import partition_of  # noqa: E402
from streams.settings import Settings  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

MIDDLE = (0.2, 0.9)
FULL = 0.65  # from this share on, each campaign keeps as many recent ids as it may: 100,000 of 12 campaigns
FLAT = 1.1  # memory at the end, compared with memory at that share


class Drain(NamedTuple):
    """One drained backlog: its samples, and the CPU seconds of the servers for each judgment."""

    samples: list[Sample]
    kafka: float
    redis: float

    def middle(self) -> Run:
        """Return the run between two shares of the judgments."""
        total = self.samples[-1].total
        first, last = (next(each for each in self.samples if each.total >= share * total) for share in MIDDLE)
        return between(first, last)

    def memory(self, share: float) -> float:
        """Return the memory of the workers in MB, the highest up to a share of the judgments."""
        reached = [each for each in self.samples if each.total <= share * self.samples[-1].total]
        return max(sum(each.memory) for each in reached or self.samples[:1]) / 1e6


def spread_names(partitions: int) -> list[str]:
    """Return names of campaigns, one for each partition."""
    found: dict[int, str] = {}
    number = 0
    while len(found) < partitions:
        found.setdefault(partition_of(name := f"campaign-{number}", partitions), name)
        number += 1
    return sorted(found.values())


def drained(settings: Settings, count: int, *, workers: int, pids: dict[str, int]) -> Drain:
    """Publish a log, then let workers rate it."""
    create_topics(settings)
    log = SyntheticLog(count, campaigns=spread_names(settings.partitions)).keyed()
    with waiting_workers(settings, workers=workers) as running:
        publish_many(settings, log)
        before = {name: cpu_seconds(pid) for name, pid in pids.items()}
        for worker in running:
            worker.send_signal(signal.SIGCONT)
        samples = take_samples(settings, running, count)
    cost = {name: (cpu_seconds(pid) - before[name]) / count for name, pid in pids.items()}
    return Drain(samples, cost["kafka"], cost["redis"])


def measure(
    base: Callable[[str], Settings], pids: dict[str, int], *, long: int, count: int, repeats: int
) -> list[Figure]:
    """Return the figures of one long backlog, and of one and two workers on shorter ones."""
    drained(base("warm-up"), 50_000, workers=1, pids=pids)
    flat = drained(base("long"), long, workers=1, pids=pids)
    runs: dict[int, list[Run]] = {1: [], 2: []}
    for repeat in range(repeats):
        for workers in (1, 2) if repeat % 2 == 0 else (2, 1):
            one = drained(base(f"backlog-{repeat}-{workers}"), count, workers=workers, pids=pids)
            runs[workers].append(one.middle())
    first, last = flat.samples[0], flat.samples[-1]
    note = f"backlog of {long:,}"
    return [
        Figure(name="memory at the end", unit="MB", values=(flat.memory(1.0),), note=note),
        Figure(
            name=f"memory at the end, to that at {FULL:.0%}",
            unit="times",
            values=(flat.memory(1.0) / flat.memory(FULL),),
            at_most=FLAT,
            note=note,
        ),
        Figure(name="rate of one worker", unit="judgments/s", values=(1e6 / between(first, last).wall,), note=note),
        Figure(name="CPU of the worker", unit="µs per judgment", values=(between(first, last).cpu,), note=note),
        Figure(name="CPU of the broker", unit="µs per judgment", values=(flat.kafka * 1e6,), note=note),
        Figure(name="CPU of Redis", unit="µs per judgment", values=(flat.redis * 1e6,), note=note),
        Figure(
            name="bytes sent to Redis",
            unit="bytes per judgment",
            values=((last.written - first.written) / (last.total - first.total),),
            at_most=1000,
            note=note,
        ),
        *(
            Figure(
                name=f"{workers} worker{'s' * (workers > 1)}",
                unit="judgments/s",
                values=tuple(1e6 / run.wall for run in runs[workers]),
                note=f"backlog of {count:,}",
            )
            for workers in runs
        ),
        Figure(
            name="two workers, to one",
            unit="times",
            values=tuple(one.wall / two.wall for one, two in zip(runs[1], runs[2], strict=True)),
            at_least=1.6,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", type=int, default=2_000_000, help="judgments in the long backlog")
    parser.add_argument("--judgments", type=int, default=600_000, help="judgments for one and two workers")
    parser.add_argument("--repeats", type=int, default=3, help="runs of one and of two workers")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="judgestream-bench-") as folder:
        servers = Servers(Path(folder))
        try:
            addresses = servers.start()
            # The workers stand still for so long that their group would exclude them.
            os.environ.update(addresses | {"JUDGESTREAM_SESSION_TIMEOUT_SECONDS": "80"})
            records = state.read(servers.directory / "state.json")
            pids = {name: record.process.pid for name, record in records.items() if record.process}

            def base(namespace: str) -> Settings:
                kafka, redis = addresses["JUDGESTREAM_KAFKA"], addresses["JUDGESTREAM_REDIS"]
                return Settings(kafka=kafka, redis=redis, namespace=namespace, partitions=CAMPAIGNS)

            figures = measure(base, pids, long=chosen.long, count=chosen.judgments, repeats=chosen.repeats)
        finally:
            servers.stop()
    emit(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
