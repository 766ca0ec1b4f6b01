"""How much CPU and time one judgment takes at backlog: one worker with everything on, compared with its peers.

All read the same log in one run, on a real Kafka and Redis on this machine, one after the other:

- a hand-written loop with confluent-kafka, json and a Redis pipeline (`hand_written.py`);
- a Quix Streams application (`quix_agent.py`);
- a plain Faust agent that does the obvious (`plain_agent.py`);
- one worker, with validation, deduplication, pseudonyms, rankings, match requests and an atomic write per turn.

The peers may read a shorter log, because they are slow. CPU is that of the process and its threads, from the first
judgment to the last, without the start. The result is the ratio to each peer, the median over the repeats.

    pip install -e '.[bench]'
    python benchmarks/stream.py --judgments 500000 --repeats 3
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.stream_log import cpu_seconds, describe_machine, make_log, publish  # noqa: E402
from deploy.servers import Servers  # noqa: E402
from streams.kafka.admin import create_topics  # noqa: E402
from streams.settings import Settings  # noqa: E402
from streams.stores.redis.store import RedisStore  # noqa: E402
from streams.wire import topics  # noqa: E402

PEERS = {"hand-written loop": "hand_written.py", "Quix Streams": "quix_agent.py", "plain Faust agent": "plain_agent.py"}
WORKER = "judgestream worker"
GOALS = {"hand-written loop": 2, "Quix Streams": 15, "plain Faust agent": 150}


class Run(NamedTuple):
    """What one contender took, in microseconds per judgment."""

    cpu: float
    wall: float
    judgments: int


def run_worker(settings: Settings, count: int) -> Run:
    """Run one worker until it has rated the log. Its first turn is not counted."""
    store = RedisStore(settings.redis, namespace=settings.namespace)
    heads = [f"{topics.JUDGMENTS.within(settings.namespace)}/{number}" for number in range(settings.partitions)]

    def done() -> int:
        return sum(int(store.read_partition(head).get("read", 0)) for head in heads)

    worker = subprocess.Popen(
        [Path(sys.executable).with_name("judgestream"), "worker", "--log-level", "WARNING"],
        env=os.environ | {"JUDGESTREAM_NAMESPACE": settings.namespace, "JUDGESTREAM_JUDGE_KEY": "benchmark"},
    )
    try:
        while not (start := done()):
            time.sleep(0.01)
        began, cpu = time.perf_counter(), cpu_seconds(worker.pid)
        while (now := done()) < count:
            if worker.poll() is not None:
                raise SystemExit("the worker ended before the log did")
            time.sleep(0.05)
        wall, used = time.perf_counter() - began, cpu_seconds(worker.pid) - cpu
        return Run(used / (now - start) * 1e6, wall / (now - start) * 1e6, now - start)
    finally:
        worker.terminate()
        worker.wait()


def run_peer(script: str, settings: Settings, count: int) -> Run:
    """Run a peer on the log. It prints what it took."""
    topic = topics.JUDGMENTS.within(settings.namespace)
    command = [sys.executable, str(ROOT / "benchmarks" / script), topic, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as peer:
        try:
            assert peer.stdout is not None
            line = next((line for line in peer.stdout if line.startswith("{")), None)  # Faust draws a spinner before it
            if line is None:
                raise SystemExit(f"{script} ended before the log did")
            found = json.loads(line)
            cpu, wall = (found[name] / found["judgments"] * 1e6 for name in ("cpu", "wall"))
            return Run(cpu, wall, found["judgments"])
        finally:
            peer.kill()


def measure(counts: dict[str, int], *, repeat: int) -> dict[str, Run]:
    """Return the run of each contender, all on logs of their own with the same judgments."""
    found = {}
    for name, count in counts.items():
        settings = Settings(
            kafka=os.environ["JUDGESTREAM_KAFKA"],
            redis=os.environ["JUDGESTREAM_REDIS"],
            namespace=f"{name.split()[0].lower()}-{repeat}",
        )
        create_topics(settings)
        asyncio.run(publish(settings, make_log(count)))
        found[name] = run_worker(settings, count) if name == WORKER else run_peer(PEERS[name], settings, count)
        print(f"  {name:20} {found[name].cpu:8.2f} µs of CPU, {found[name].wall:8.2f} µs", file=sys.stderr)
    return found


def summarize(runs: list[dict[str, Run]]) -> dict[str, dict[str, float]]:
    """Return the medians, and the ratios to the worker within each repeat."""
    summary = {}
    for name in runs[0]:
        summary[name] = {
            "cpu_us": median(run[name].cpu for run in runs),
            "wall_us": median(run[name].wall for run in runs),
            "judgments": median(run[name].judgments for run in runs),
            "cpu_ratio": median(run[name].cpu / run[WORKER].cpu for run in runs),
            "wall_ratio": median(run[name].wall / run[WORKER].wall for run in runs),
        }
    return summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judgments", type=int, default=500_000, help="judgments in the log (default: %(default)s)")
    parser.add_argument(
        "--prefix", type=int, default=100_000, help="judgments for Quix Streams, a prefix (default: %(default)s)"
    )
    parser.add_argument(
        "--plain", type=int, default=10_000, help="judgments for the plain agent, a prefix (default: %(default)s)"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs, of which the median counts (default: %(default)s)"
    )
    parser.add_argument("--only", nargs="*", choices=["hand", "quix", "plain"], help="peers to run (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    sizes = dict(zip(PEERS, (chosen.judgments, chosen.prefix, chosen.plain), strict=True))
    keys = dict(zip(PEERS, ("hand", "quix", "plain"), strict=True))
    counts = {name: size for name, size in sizes.items() if chosen.only is None or keys[name] in chosen.only}
    counts[WORKER] = chosen.judgments
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    machine = describe_machine()
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder))
        try:
            os.environ.update(servers.start())
            runs = [measure(counts, repeat=repeat) for repeat in range(chosen.repeats)]
        finally:
            servers.stop()
    summary = summarize(runs)
    if chosen.json:
        print(json.dumps({"machine": machine, "repeats": chosen.repeats, "contenders": summary}))
        return
    print(f"{machine}; broker, Redis and worker share it; medians of {chosen.repeats}\n")
    print(f"{'':20} {'judgments':>10} {'CPU µs':>8} {'µs':>8} {'per second':>11} {'CPU ratio':>10} {'ratio':>7}  goal")
    for name, each in summary.items():
        goal = f"{GOALS[name]}" if name in GOALS else "5 µs of CPU"
        print(
            f"{name:20} {each['judgments']:>10,.0f} {each['cpu_us']:>8.2f} {each['wall_us']:>8.2f} "
            f"{1e6 / each['wall_us']:>11,.0f} {each['cpu_ratio']:>10.1f} {each['wall_ratio']:>7.1f}  {goal}"
        )


if __name__ == "__main__":
    main()
