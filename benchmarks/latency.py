"""How long it takes from publishing a judgment until its rating and the next match request can be read.

One worker runs on a real Kafka and Redis on this machine. Judgments are published at an even rate. Each answers a match
request, so that the worker asks for another match. The times are those of this process: from handing a judgment to the
producer until the consumer returns the first rating, the first match request and the first leaderboard of its campaign
that include it. A leaderboard is published every `snapshot_seconds`, so its delay is compared with that interval.
Nothing counts until the worker and the broker are warm. CPU is that of the worker, and the bytes are those that Redis
received. `--rates 0` measures an idle worker.

    pip install -e '.[bench]'
    python benchmarks/latency.py --rates 0 100 1000 --seconds 20
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict, deque
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from confluent_kafka import Consumer, Producer, TopicPartition  # noqa: E402

from benchmarks.emitting import emit  # noqa: E402
from benchmarks.local_servers import local_servers  # noqa: E402
from benchmarks.stream_log import CAMPAIGNS, JUDGES, SYSTEMS, cpu_seconds, describe_machine  # noqa: E402
from benchmarks.worker_runs import Progress, running_worker  # noqa: E402
from streams.bench.figures import Figure  # noqa: E402
from streams.kafka.admin import create_topics  # noqa: E402
from streams.wire import topics  # noqa: E402
from streams.wire.events import Judgment, MatchRequest, encode  # noqa: E402

if TYPE_CHECKING:
    from streams.settings import Settings

WARM_UP = 20 * SYSTEMS  # judgments per campaign before anything is measured
# A broker that has just started compiles its own code for so long, with up to half a core.
BROKER_SECONDS = 30.0
PATIENCE_SECONDS = 60.0
PERCENTILES = (50, 99)
TOPICS = {"ratings": topics.RATINGS, "requests": topics.MATCH_REQUESTS, "boards": topics.LEADERBOARDS}


class Place(Struct):
    """The part of a rating or a leaderboard that says which judgments it includes."""

    campaign: str
    offset: int


class Outputs:
    """Follows the ratings, the match requests and the leaderboards, in a thread."""

    def __init__(self, settings: Settings) -> None:
        self.requests: dict[str, deque[MatchRequest]] = defaultdict(deque)  # by campaign, not answered yet
        self.seen: dict[str, list[tuple[str, int, float]]] = {name: [] for name in TOPICS}
        self._names = {topic.within(settings.namespace): name for name, topic in TOPICS.items()}
        self._consumer = Consumer(
            {
                "bootstrap.servers": settings.kafka,
                "group.id": "latency",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        self._consumer.assign(
            [TopicPartition(topic, number, 0) for topic in self._names for number in range(settings.partitions)]
        )
        self._stopped = Event()
        self._thread = Thread(target=self._follow)
        self._thread.start()

    def _follow(self) -> None:
        while not self._stopped.is_set():
            message = self._consumer.poll(0.1)
            if message is None or message.error():
                continue
            now = time.perf_counter()
            value, name = message.value(), self._names[message.topic()]
            if name == "requests":
                request = msgspec.json.decode(value, type=MatchRequest)
                self.seen[name].append((request.campaign, int(request.id.split("/")[-2]), now))
                self.requests[request.campaign].append(request)
            else:
                output = msgspec.json.decode(value, type=Place)
                self.seen[name].append((output.campaign, output.offset, now))

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()
        self._consumer.close()


class Platform:
    """Publishes judgments and remembers when."""

    def __init__(self, settings: Settings, outputs: Outputs) -> None:
        options = {"bootstrap.servers": settings.kafka, "linger.ms": 0, "partitioner": "murmur2_random", "log_level": 2}
        self._producer = Producer(options)
        self._topic = topics.JUDGMENTS.within(settings.namespace)
        self._outputs = outputs
        self._random = np.random.default_rng(1)
        self._number = 0
        self.sent: list[tuple[str, int, float, bool]] = []  # campaign, offset, time, whether it answers a request

    def publish(self, *, answering: bool) -> None:
        campaign, number = f"campaign-{self._number % CAMPAIGNS}", self._number
        self._number += 1
        asked = self._outputs.requests[campaign]
        request = asked.popleft() if answering and asked else None
        first, step = int(self._random.integers(SYSTEMS)), 1 + int(self._random.integers(SYSTEMS - 1))
        systems = request.systems if request else (f"system-{first}", f"system-{(first + step) % SYSTEMS}")
        judgment = Judgment(
            id=f"judgment-{number}",
            campaign=campaign,
            segment=(request and request.segment) or f"segment-{number % 300}",
            judge=f"judge-{number % JUDGES}",
            systems=systems,
            ranks=(1, 2) if self._random.random() < 0.5 else (2, 1),
            at=datetime.now(UTC),
            request=request.id if request else None,
        )
        at = time.perf_counter()

        def delivered(error: Any, message: Any) -> None:
            if error:
                raise SystemExit(str(error))
            self.sent.append((campaign, message.offset(), at, request is not None))

        self._producer.produce(self._topic, encode(judgment), key=campaign, on_delivery=delivered)
        self._producer.poll(0)

    def flush(self) -> None:
        self._producer.flush()


def delays(sent: list[tuple[str, int, float]], seen: list[tuple[str, int, float]]) -> list[float]:
    """Return the milliseconds until the first output of the campaign at or after each judgment's offset."""
    by_campaign: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for campaign, offset, at in seen:
        by_campaign[campaign].append((offset, at))
    found = []
    arrays = {name: np.array(sorted(each)) for name, each in by_campaign.items()}
    for campaign, offset, at in sent:
        outputs = arrays.get(campaign, np.empty((0, 2)))
        place = int(np.searchsorted(outputs[:, 0], offset))
        if place < len(outputs):
            first = outputs[place, 0]
            end = int(np.searchsorted(outputs[:, 0], first, side="right"))
            found.append(1000 * (float(outputs[place:end, 1].min()) - at))
    return found


def wait_until_rated(platform: Platform, outputs: Outputs, *, name: str = "ratings") -> None:
    """Wait until the last judgment of each campaign is rated, or is included in another output."""
    platform.flush()
    last: dict[str, int] = {}
    for campaign, offset, _, _ in platform.sent:
        last[campaign] = max(offset, last.get(campaign, -1))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        rated: dict[str, int] = {}
        for campaign, offset, _ in list(outputs.seen[name]):
            rated[campaign] = max(offset, rated.get(campaign, -1))
        if all(rated.get(campaign, -1) >= offset for campaign, offset in last.items()):
            return
        if time.monotonic() > deadline:
            raise SystemExit("the worker did not rate all judgments in time")
        time.sleep(0.05)


def measure_rate(
    platform: Platform, outputs: Outputs, progress: Progress, worker: int, *, rate: int, seconds: float
) -> dict[str, float]:
    """Publish at a rate, and return percentiles of the delays in milliseconds, and the worker's share of a core."""
    platform.sent.clear()
    for seen in outputs.seen.values():
        seen.clear()
    began, cpu, received = time.perf_counter(), cpu_seconds(worker), progress.read()[1]
    for number in range(int(rate * seconds)):
        wait = began + number / rate - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
        platform.publish(answering=True)
    if not rate:
        time.sleep(seconds)
    result = {"rate": float(rate), "cpu_share": (cpu_seconds(worker) - cpu) / (time.perf_counter() - began)}
    if not rate:
        return result
    wait_until_rated(platform, outputs)
    result["redis_bytes"] = (progress.read()[1] - received) / len(platform.sent)
    wait_until_rated(platform, outputs, name="boards")
    sent = [(campaign, offset, at) for campaign, offset, at, _ in platform.sent]
    answers = [(campaign, offset, at) for campaign, offset, at, answers in platform.sent if answers]
    result["answers"] = float(len(answers))
    for name, published in (("ratings", sent), ("requests", answers), ("boards", sent)):
        times = delays(published, outputs.seen[name])
        for percentile in PERCENTILES:
            result[f"{name}_p{percentile}_ms"] = float(np.percentile(times, percentile)) if times else float("nan")
    return result


def measure(rates: list[int], *, seconds: float, repeats: int = 1, partitions: int = 12) -> dict[str, Any]:
    """Return the delays at each rate, once per repeat, from one worker that has warmed up."""
    with local_servers() as base:
        settings = base("latency", partitions=partitions)
        create_topics(settings)
        outputs = Outputs(settings)
        platform, progress = Platform(settings, outputs), Progress(settings)
        try:
            with running_worker(settings) as worker:
                for _ in range(WARM_UP * CAMPAIGNS):
                    platform.publish(answering=False)
                wait_until_rated(platform, outputs)
                if top := max(rates):
                    measure_rate(platform, outputs, progress, worker.pid, rate=top, seconds=BROKER_SECONDS)
                time.sleep(2 * settings.snapshot_seconds)  # the work of the start is over
                results = [
                    measure_rate(platform, outputs, progress, worker.pid, rate=rate, seconds=seconds)
                    for _ in range(repeats)
                    for rate in rates
                ]
        finally:
            outputs.stop()
    return {"partitions": partitions, "interval_ms": 1000 * settings.snapshot_seconds, "results": results}


def figures(found: dict[str, Any]) -> list[Figure]:
    """Return the delays, the CPU and the bytes at each rate, with their goals."""
    board = found["interval_ms"] + 50.0
    # name, title, unit, factor, goals by rate
    kinds: list[tuple[str, str, str, float, dict[int, float]]] = [
        ("cpu_share", "CPU of the worker", "% of a core", 100.0, {0: 1.0, 100: 15.0}),
        ("ratings_p50_ms", "publish to rating, p50", "ms", 1.0, {100: 10.0, 1000: 10.0}),
        ("ratings_p99_ms", "publish to rating, p99", "ms", 1.0, {100: 30.0, 1000: 30.0}),
        ("requests_p50_ms", "publish to match request, p50", "ms", 1.0, {100: 10.0, 1000: 10.0}),
        ("requests_p99_ms", "publish to match request, p99", "ms", 1.0, {100: 30.0, 1000: 30.0}),
        ("boards_p99_ms", "publish to leaderboard, p99", "ms", 1.0, {100: board, 1000: board}),
        ("redis_bytes", "bytes sent to Redis", "bytes per judgment", 1.0, {100: 3000.0}),
    ]
    result = []
    for rate in sorted({int(each["rate"]) for each in found["results"]}):
        at = f"{rate:,} per second" if rate else "idle"
        for name, title, unit, factor, goals in kinds:
            values = tuple(factor * each[name] for each in found["results"] if each["rate"] == rate and name in each)
            if values:
                result.append(Figure(name=f"{at}: {title}", unit=unit, values=values, at_most=goals.get(rate)))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=int, nargs="+", default=[0, 100, 1000], help="judgments per second")
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds for each rate (default: %(default)s)")
    parser.add_argument(
        "--repeats", type=int, default=1, help="times that each rate is measured (default: %(default)s)"
    )
    parser.add_argument("--partitions", type=int, default=12, help="partitions per topic (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    machine = describe_machine()
    found = measure(chosen.rates, seconds=chosen.seconds, repeats=chosen.repeats, partitions=chosen.partitions)
    if chosen.json:
        emit(figures(found), as_json=True)
        return
    print(
        f"{machine}; broker, Redis, platform and worker share it; {CAMPAIGNS} campaigns, "
        f"a leaderboard every {found['interval_ms']:,.0f} ms\n"
    )
    print(
        f"{'rate':>6} {'CPU':>7} {'rating p50':>11} {'p99':>8} {'request p50':>12} {'p99':>8}"
        f" {'board p50':>10} {'p99':>8} {'Redis bytes':>12}   (ms)"
    )
    for each in found["results"]:
        columns = (f"{name}_p{percentile}_ms" for name in TOPICS for percentile in PERCENTILES)
        cells = [f"{each[name]:,.1f}" if name in each else "" for name in columns]
        received = f"{each['redis_bytes']:,.0f}" if "redis_bytes" in each else ""
        print(
            f"{each['rate']:>6.0f} {each['cpu_share']:>7.1%} {cells[0]:>11} {cells[1]:>8} {cells[2]:>12} {cells[3]:>8}"
            f" {cells[4]:>10} {cells[5]:>8} {received:>12}"
        )


if __name__ == "__main__":
    main()
