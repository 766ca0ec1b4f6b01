"""What one campaign of a thousand systems costs a worker, Redis and the readers of its leaderboard.

On a real Kafka and Redis on this machine, one worker rates a backlog of one campaign, then the same campaign goes on at
a low rate. Measured are the CPU of the worker per judgment, the bytes that Redis receives per judgment, the longest
call of a script in Redis (its slow log), and the size of the leaderboard. `--systems 20` measures a usual campaign.

    pip install -e '.[bench]'
    python benchmarks/large_campaign.py --systems 1000 --judgments 300000
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from confluent_kafka import Consumer, TopicPartition  # noqa: E402

from benchmarks.emitting import emit, measured  # noqa: E402
from benchmarks.local_servers import local_servers  # noqa: E402
from benchmarks.stream_log import cpu_seconds, make_log, memory_bytes, publish_many  # noqa: E402
from benchmarks.worker_runs import Progress, between, drain, running_worker  # noqa: E402
from streams.kafka.admin import create_topics  # noqa: E402
from streams.wire import topics  # noqa: E402

if TYPE_CHECKING:
    from streams.bench.figures import Figure
    from streams.settings import Settings


PATIENCE_SECONDS = 300.0
SLOW_US = 500  # calls of Redis from which they are in its slow log


class SlowCalls:
    """The calls of scripts that took Redis long."""

    def __init__(self, progress: Progress) -> None:
        self._redis: Any = progress.store.client.redis
        self._redis.config_set("slowlog-log-slower-than", SLOW_US)
        self._redis.config_set("slowlog-max-len", 100_000)

    def longest_ms(self) -> float:
        """Return the milliseconds of the longest call since the last time that this was asked."""
        found = self._redis.slowlog_get(100_000)
        self._redis.slowlog_reset()
        return max((each["duration"] for each in found if each["command"].startswith(b"EVAL")), default=0) / 1000


def last_leaderboard(settings: Settings) -> tuple[int, int]:
    """Return the bytes of the last leaderboard, and the number of leaderboards so far."""
    topic = topics.LEADERBOARDS.within(settings.namespace)
    consumer = Consumer({"bootstrap.servers": settings.kafka, "group.id": "large", "enable.auto.commit": False})
    size, count = 0, 0
    try:
        for number in range(settings.partitions):
            place = TopicPartition(topic, number, 0)
            _, end = consumer.get_watermark_offsets(place)
            consumer.assign([place])
            position = 0
            while position < end:
                message = consumer.poll(10.0)
                if message is None or message.error():
                    raise SystemExit("the leaderboards can't be read")
                size, position, count = len(message.value() or b""), message.offset() + 1, count + 1
    finally:
        consumer.close()
    return size, count


def measure(*, systems: int, judgments: int, rate: int, seconds: float) -> list[Figure]:
    """Return the figures of a backlog and of a low rate."""
    late = int(rate * seconds)
    log = make_log(judgments + 2 * late, campaigns=1, systems=systems)
    with local_servers() as base:
        warm_up = base("warm-up")
        create_topics(warm_up)
        publish_many(warm_up, make_log(50_000, first_id=10**9))
        drain(warm_up, 50_000)
        settings = base("large")
        create_topics(settings)
        publish_many(settings, log[:judgments])
        progress = Progress(settings)
        slow = SlowCalls(progress)
        samples = drain(settings, judgments)
        run, slowest = between(samples[0], samples[-1]), slow.longest_ms()
        figures = [
            measured("backlog: judgments per CPU second", 1e6 / run.cpu, "per second", at_least=10_000),
            measured("backlog: judgments per second", 1e6 / run.wall, "per second"),
            measured("backlog: longest script in Redis", slowest, "ms", at_most=20),
            measured(
                "backlog: bytes to Redis per judgment",
                (samples[-1].written - samples[0].written) / run.judgments,
                "bytes",
                at_most=1000,
            ),
            measured("backlog: memory of the worker", max(samples[-1].memory) / 1e6, "MB"),
        ]
        figures += measure_rate(settings, progress, slow, log[judgments:], rate=rate, systems=systems)
        size, count = last_leaderboard(settings)
        figures.append(measured("bytes of a leaderboard", size, "bytes"))
        figures.append(measured("leaderboards", count, ""))
    return figures


def measure_rate(
    settings: Settings,
    progress: Progress,
    slow: SlowCalls,
    log: list[tuple[bytes, bytes]],
    *,
    rate: int,
    systems: int,
) -> list[Figure]:
    """Return the figures of judgments that come one by one. A worker loads the campaign first, with half of them."""
    with running_worker(settings) as worker:
        before = sum(progress.read()[0])
        half = len(log) // 2
        _publish_evenly(settings, log[:half], rate=rate)
        _wait_until_read(progress, before + half)
        time.sleep(2 * settings.snapshot_seconds)
        slow.longest_ms()
        cpu, began, received = cpu_seconds(worker.pid), time.perf_counter(), progress.read()[1]
        _publish_evenly(settings, log[half:], rate=rate)
        _wait_until_read(progress, before + len(log))
        sent = progress.read()[1] - received
        share = (cpu_seconds(worker.pid) - cpu) / (time.perf_counter() - began)
        goal = 3000 if systems <= 20 else None
        return [
            measured(f"{rate}/s: CPU of the worker", 100 * share, "% of a core"),
            measured(f"{rate}/s: longest script in Redis", slow.longest_ms(), "ms", at_most=20),
            measured(f"{rate}/s: bytes to Redis per judgment", sent / (len(log) - half), "bytes", at_most=goal),
            measured(f"{rate}/s: memory of the worker", memory_bytes(worker.pid) / 1e6, "MB"),
        ]


def _publish_evenly(settings: Settings, log: list[tuple[bytes, bytes]], *, rate: int) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": settings.kafka, "linger.ms": 0, "partitioner": "murmur2_random"})
    topic, began = topics.JUDGMENTS.within(settings.namespace), time.perf_counter()
    for number, (key, value) in enumerate(log):
        time.sleep(max(0.0, began + number / rate - time.perf_counter()))
        producer.produce(topic, value, key=key)
        producer.poll(0)
    producer.flush()


def _wait_until_read(progress: Progress, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while sum(progress.read()[0]) < count:
        if time.monotonic() > deadline:
            raise SystemExit("the worker did not rate all judgments in time")
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=1000, help="number of systems (default: %(default)s)")
    parser.add_argument(
        "--judgments", type=int, default=300_000, help="judgments in the backlog (default: %(default)s)"
    )
    parser.add_argument("--rate", type=int, default=100, help="judgments per second after it (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds at that rate (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    figures = measure(systems=chosen.systems, judgments=chosen.judgments, rate=chosen.rate, seconds=chosen.seconds)
    emit(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
