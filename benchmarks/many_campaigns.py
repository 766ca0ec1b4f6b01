"""What thousands of campaigns cost one worker, and how long partitions stand still when workers come and go.

On a real Kafka and Redis on this machine, 2,000 campaigns of 20 systems are rated. Then are measured, in this order:

- the memory of a worker per campaign, all campaigns in memory;
- the CPU of a worker at 50 judgments per second, spread over all campaigns, and at none, and the bytes to Redis;
- after `kill -9`, the time from when the group has assigned the partitions to the new worker until all are open;
- the longest time that a judgment waits for its rating in any partition while a second worker joins, and while it ends.

    pip install -e '.[bench]'
    python benchmarks/many_campaigns.py --campaigns 2000
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import msgspec
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from confluent_kafka import Consumer, Producer, TopicPartition  # noqa: E402

from benchmarks.emitting import emit, measured  # noqa: E402
from benchmarks.stream_log import cpu_seconds, make_log, publish  # noqa: E402
from deploy.servers import Servers  # noqa: E402
from streams.kafka.admin import create_topics  # noqa: E402
from streams.settings import Settings  # noqa: E402
from streams.stores.redis.store import RedisStore  # noqa: E402
from streams.wire import topics  # noqa: E402
from streams.wire.events import Judgment, Rating, encode  # noqa: E402

SYSTEMS, JUDGES = 20, 50
RATE = 50  # judgments per second over all campaigns
PER_PARTITION = 10  # judgments per second in each partition while workers come and go
PATIENCE_SECONDS = 120.0
# The title, the unit, the factor to that unit, and the most that it may be.
FIGURES: dict[str, tuple[str, str, float, float | None]] = {
    "kilobytes_per_campaign": ("memory of a worker", "kB per campaign", 1.0, 150.0),
    "open_seconds": ("all partitions open after the group has settled", "s", 1.0, 5.0),
    "join_stall_seconds": ("longest wait while a worker joins", "s", 1.0, 3.0),
    "leave_stall_seconds": ("longest wait while a worker leaves", "s", 1.0, 3.0),
    "cpu_share": ("CPU at 50 judgments per second", "% of a core", 100.0, 15.0),
    "idle_share": ("CPU of an idle worker", "% of a core", 100.0, 1.0),
    "backlog_cpu_us": ("CPU at backlog", "µs per judgment", 1.0, None),
    "p50_seconds": ("publish to rating, p50", "ms", 1000.0, None),
    "p99_seconds": ("publish to rating, p99", "ms", 1000.0, None),
    "redis_bytes": ("bytes sent to Redis at 50 per second", "bytes per judgment", 1.0, 3000.0),
}


class WorkerProcess:
    """One worker, with its log in a file."""

    def __init__(self, settings: Settings, file: Path) -> None:
        self.file = file
        self._log = file.open("wb")
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("judgestream"), "worker", "--log-level", "INFO"],
            env=os.environ | {"JUDGESTREAM_NAMESPACE": settings.namespace, "JUDGESTREAM_JUDGE_KEY": "benchmark"},
            stderr=self._log,
        )

    def lines(self, text: str) -> list[tuple[float, str]]:
        """Return the lines of the log with a text, and their times in seconds."""
        found = []
        for line in self.file.read_text().splitlines():
            if text in line:
                at = datetime.strptime(line[1:24], "%Y-%m-%d %H:%M:%S,%f")
                found.append((at.timestamp(), line))
        return found

    def memory(self) -> int:
        """Return the resident bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def cpu(self) -> float:
        """Return the CPU time in seconds."""
        return cpu_seconds(self.process.pid)

    def end(self, *, kill: bool = False) -> None:
        """End the worker in order, or kill it, and wait."""
        if self.process.poll() is None:
            self.process.kill() if kill else self.process.terminate()
            self.process.wait()
        self._log.close()


class Judges:
    """Publishes one judgment after the other at an even rate, in a thread, and follows the ratings in another."""

    def __init__(self, settings: Settings, campaigns: list[str], *, rate: float) -> None:
        self._campaigns, self._rate = campaigns, rate
        self._topic = topics.JUDGMENTS.within(settings.namespace)
        self._producer = Producer(
            {"bootstrap.servers": settings.kafka, "linger.ms": 0, "partitioner": "murmur2_random"}
        )
        options = {"bootstrap.servers": settings.kafka, "group.id": "many", "enable.auto.commit": False}
        self._consumer = Consumer(options)
        ratings = topics.RATINGS.within(settings.namespace)
        places = [TopicPartition(ratings, number) for number in range(settings.partitions)]
        for place in places:
            place.offset = self._consumer.get_watermark_offsets(place)[1]
        self._consumer.assign(places)
        self._sent: dict[tuple[int, int], float] = {}  # the time of each judgment, by partition and offset
        self._rated: dict[int, list[tuple[int, float]]] = {}  # offset and time of each rating, by partition
        self._stopped, self._followed = Event(), Event()
        self._threads = [Thread(target=self._publish), Thread(target=self._follow)]
        for thread in self._threads:
            thread.start()

    def _publish(self) -> None:
        random, began, number = np.random.default_rng(2), time.time(), 0
        while not self._stopped.wait(max(0.0, began + number / self._rate - time.time())):
            campaign = self._campaigns[number % len(self._campaigns)]
            first, step = int(random.integers(SYSTEMS)), 1 + int(random.integers(SYSTEMS - 1))
            judgment = Judgment(
                id=f"late-{time.time_ns()}-{number}",
                campaign=campaign,
                segment=f"segment-{number % 300}",
                judge=f"judge-{number % JUDGES}",
                systems=(f"system-{first}", f"system-{(first + step) % SYSTEMS}"),
                ranks=(1, 2) if random.random() < 0.5 else (2, 1),
                at=datetime.now(UTC),
            )
            self._produce(campaign, encode(judgment))
            number += 1
        self._producer.flush()

    def _produce(self, campaign: str, value: bytes) -> None:
        at = time.time()

        def delivered(error: Any, message: Any) -> None:
            if error:
                raise SystemExit(str(error))
            self._sent[message.partition(), message.offset()] = at

        self._producer.produce(self._topic, value, key=campaign, on_delivery=delivered)
        self._producer.poll(0)

    def _follow(self) -> None:
        while not self._followed.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and not message.error():
                rating = msgspec.json.decode(message.value(), type=Rating)
                partition = int(rating.id.split("/")[1])  # the id begins with the topic and the partition
                self._rated.setdefault(partition, []).append((rating.offset, time.time()))

    def stop(self) -> list[float]:
        """Stop, wait until all judgments are rated, and return the seconds that each has waited for a rating."""
        self._stopped.set()
        self._threads[0].join()
        deadline = time.monotonic() + PATIENCE_SECONDS
        last: dict[int, int] = {}
        for partition, offset in self._sent:
            last[partition] = max(offset, last.get(partition, -1))
        while any(max((at for at, _ in self._rated.get(each, [])), default=-1) < end for each, end in last.items()):
            if time.monotonic() > deadline:
                raise SystemExit("the judgments were not rated in time")
            time.sleep(0.05)
        self._followed.set()
        self._threads[1].join()
        self._consumer.close()
        delays = []
        for partition in last:
            rated = np.array(sorted(self._rated[partition]))
            # A rating may be repeated later by a new owner: the first one that includes a judgment counts.
            earliest = np.minimum.accumulate(rated[::-1, 1])[::-1]
            for (number, offset), at in self._sent.items():
                if number == partition:
                    delays.append(float(earliest[np.searchsorted(rated[:, 0], offset)]) - at)
        return delays


class Bench:
    """One namespace with its worker, its state and its log."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self._folder = settings, folder
        self._store = RedisStore(settings.redis, namespace=settings.namespace)
        topic = topics.JUDGMENTS.within(settings.namespace)
        self._heads = [f"{topic}/{number}" for number in range(settings.partitions)]
        self._workers = 0

    def start_worker(self) -> WorkerProcess:
        self._workers += 1
        return WorkerProcess(self.settings, self._folder / f"worker-{self._workers}.log")

    def received(self) -> int:
        """Return the bytes that Redis has received from all its clients."""
        stats: Any = self._store.client.redis.info("stats")
        return int(stats["total_net_input_bytes"])

    def wait_until_read(self, count: int) -> None:
        self.wait(lambda: sum(int(self._store.read_partition(head).get("read", 0)) for head in self._heads) >= count)

    def wait_until_open(self, worker: WorkerProcess, count: int) -> None:
        self.wait(lambda: len(worker.lines("is open at offset")) >= count)

    @staticmethod
    def wait(condition: Any) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit("the workers did not get there in time")
            time.sleep(0.05)


def measure(
    settings: Settings, folder: Path, *, campaigns: int, judgments: int = 30, seconds: float = 30.0
) -> dict[str, float]:
    """Return what campaigns cost, each with a number of judgments. The topics must not exist yet."""
    create_topics(settings)
    bench, names = Bench(settings, folder), [f"campaign-{k}" for k in range(campaigns)]
    with ExitStack() as stack:
        worker = bench.start_worker()
        stack.callback(worker.end, kill=True)
        found = measure_cost(bench, worker, names, judgments=judgments, seconds=seconds)
        worker.end(kill=True)
        worker = bench.start_worker()
        stack.callback(worker.end, kill=True)
        bench.wait_until_open(worker, settings.partitions)
        opened, assigned = worker.lines("is open at offset"), worker.lines("the group assigns")
        found["open_seconds"] = opened[settings.partitions - 1][0] - assigned[0][0]
        time.sleep(settings.snapshot_seconds)
        return found | measure_stalls(bench, names)


def measure_cost(
    bench: Bench, worker: WorkerProcess, campaigns: list[str], *, judgments: int, seconds: float
) -> dict[str, float]:
    """Return the memory and the CPU of a worker that has just started on an empty log."""
    settings, found = bench.settings, {}
    # What a worker needs for any campaign: compiled kernels, buffers of the size of a turn.
    warm_up = make_log(50_000, first_id=10**9)
    asyncio.run(publish(settings, warm_up))
    bench.wait_until_read(len(warm_up))
    time.sleep(2 * settings.snapshot_seconds)
    memory, cpu = worker.memory(), worker.cpu()
    # Its times end now. If they were long ago, each later judgment would let all match requests of its campaign expire.
    count, step = len(campaigns) * judgments, timedelta(seconds=1 / RATE)
    log = make_log(count, campaigns=len(campaigns), start=datetime.now(UTC) - count * step, step=step)
    asyncio.run(publish(settings, log))
    bench.wait_until_read(len(warm_up) + len(log))
    found["backlog_cpu_us"] = (worker.cpu() - cpu) / len(log) * 1e6
    time.sleep(3 * settings.snapshot_seconds)  # the leaderboards, too
    found["kilobytes_per_campaign"] = (worker.memory() - memory) / len(campaigns) / 1000
    for name, rate in (("idle_share", 0), ("cpu_share", RATE)):
        cpu, began, received = worker.cpu(), time.perf_counter(), bench.received()
        judges = Judges(settings, campaigns, rate=rate) if rate else None
        time.sleep(seconds)
        found[name] = (worker.cpu() - cpu) / (time.perf_counter() - began)
        if judges is not None:
            delays = judges.stop()
            found["redis_bytes"] = (bench.received() - received) / len(delays)
            found["p50_seconds"], found["p99_seconds"] = (float(np.percentile(delays, q)) for q in (50, 99))
    return found


def measure_stalls(bench: Bench, campaigns: list[str]) -> dict[str, float]:
    """Return how long a judgment waits at most while a second worker joins, and while it ends. One works already."""
    settings, found = bench.settings, {}
    rate = PER_PARTITION * settings.partitions
    judges = Judges(settings, campaigns, rate=rate)
    time.sleep(3.0)
    second = bench.start_worker()
    try:
        bench.wait_until_open(second, settings.partitions // 2)
        time.sleep(3.0)
        found["join_stall_seconds"] = max(judges.stop())
        judges = Judges(settings, campaigns, rate=rate)
        time.sleep(3.0)
    finally:
        second.end()
    time.sleep(10.0)
    found["leave_stall_seconds"] = max(judges.stop())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=2000, help="number of campaigns (default: %(default)s)")
    parser.add_argument("--judgments", type=int, default=30, help="judgments of each (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=30.0, help="seconds at each rate (default: %(default)s)")
    parser.add_argument("--partitions", type=int, default=12, help="partitions per topic (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder) / "servers")
        try:
            os.environ.update(servers.start())
            settings = Settings(
                kafka=os.environ["JUDGESTREAM_KAFKA"],
                redis=os.environ["JUDGESTREAM_REDIS"],
                namespace="many",
                partitions=chosen.partitions,
            )
            found = measure(
                settings,
                Path(folder),
                campaigns=chosen.campaigns,
                judgments=chosen.judgments,
                seconds=chosen.seconds,
            )
        finally:
            servers.stop()
    figures = [measured("campaigns", chosen.campaigns, "")]
    for name, value in found.items():
        title, unit, factor, most = FIGURES[name]
        figures.append(measured(title, value * factor, unit, at_most=most))
    emit(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
