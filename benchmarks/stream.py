"""How much CPU and time one judgment takes at backlog: one worker with everything on, compared with its peers.

All read the same log in one run, on a real Kafka and Redis on this machine, one after the other:

- a hand-written loop with confluent-kafka, json and a Redis pipeline (`hand_written.py`);
- the same loop, which also produces the ratings;
- a Quix Streams application (`quix_agent.py`);
- a plain Faust agent that does the obvious (`plain_agent.py`);
- one worker, with validation, deduplication, pseudonyms, rankings, match requests and an atomic write per turn.

A slow peer reads only a prefix of the log. CPU is that of the process and its threads. A peer is measured from its
first judgment to its last. The worker is measured from its first stored turn to its last, so that both leave out the
start. In each repeat another contender begins. The result is the ratio to the worker within each repeat, the median.

    pip install -e '.[bench]'
    python benchmarks/stream.py --judgments 500000 --repeats 3
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.emitting import emit  # noqa: E402
from benchmarks.local_servers import local_servers  # noqa: E402
from benchmarks.stream_log import describe_machine, make_log, publish_many  # noqa: E402
from benchmarks.worker_runs import Run, between, drain  # noqa: E402
from streams.bench.figures import Figure  # noqa: E402
from streams.kafka.admin import create_topics  # noqa: E402
from streams.wire import topics  # noqa: E402

if TYPE_CHECKING:
    from streams.settings import Settings

WORKER = "judgestream worker"
HAND, HAND_RATINGS, QUIX, PLAIN = (
    "hand-written loop",
    "hand-written loop with ratings",
    "Quix Streams",
    "plain Faust agent",
)
SCRIPTS = {HAND: "hand_written.py", HAND_RATINGS: "hand_written.py", QUIX: "quix_agent.py", PLAIN: "plain_agent.py"}
CHOICES = {"hand": (HAND, HAND_RATINGS), "quix": (QUIX,), "plain": (PLAIN,)}
WARM_UP = 50_000
GOALS = {HAND: 2, QUIX: 15, PLAIN: 150}


def run_worker(settings: Settings, count: int) -> tuple[Run, float]:
    """Run one worker until it has rated the log. Return what it took, and the bytes per judgment sent to Redis."""
    samples = drain(settings, count)
    run = between(samples[0], samples[-1])
    return run, (samples[-1].written - samples[0].written) / run.judgments


def run_peer(name: str, settings: Settings, count: int) -> Run:
    """Run a peer on the log. It prints what it took."""
    topic = topics.JUDGMENTS.within(settings.namespace)
    command = [sys.executable, str(ROOT / "benchmarks" / SCRIPTS[name]), topic, str(count)]
    if name == HAND_RATINGS:
        command.append(topics.RATINGS.within(settings.namespace))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as peer:
        try:
            assert peer.stdout is not None
            line = next((line for line in peer.stdout if line.startswith("{")), None)  # Faust draws a spinner before it
            if line is None:
                raise SystemExit(f"{SCRIPTS[name]} ended before the log did")
            found = json.loads(line)
            cpu, wall = (found[key] / found["judgments"] * 1e6 for key in ("cpu", "wall"))
            return Run(cpu, wall, found["judgments"])
        finally:
            peer.kill()


def compare(settings: Settings, counts: dict[str, int], *, first: int) -> tuple[dict[str, Run], float]:
    """Return the run of each contender on the log, and the worker's bytes. The contender at `first` begins."""
    found, sent = {}, 0.0
    names = list(counts)
    for name in names[first:] + names[:first]:
        if name == WORKER:
            found[name], sent = run_worker(settings, counts[name])
        else:
            found[name] = run_peer(name, settings, counts[name])
        print(f"  {name:32} {found[name].cpu:8.2f} µs of CPU, {found[name].wall:8.2f} µs", file=sys.stderr)
    return {name: found[name] for name in counts}, sent


def warm_up(settings: Settings, log: list[tuple[bytes, bytes]]) -> None:
    """Let a worker rate a short log. Its kernels are compiled once, and are then kept on disk."""
    create_topics(settings)
    publish_many(settings, log)
    drain(settings, len(log))


def measure(counts: dict[str, int], *, repeats: int) -> dict[str, Any]:
    """Return what each contender took in each repeat: microseconds of CPU and of time per judgment, as lists."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    log = make_log(max(counts.values()))
    with local_servers() as base:
        warm_up(base("warm-up"), log[:WARM_UP])
        runs, sent = [], []
        for repeat in range(repeats):
            settings = base(f"stream-{repeat}")
            create_topics(settings)
            publish_many(settings, log)
            run, bytes_sent = compare(settings, counts, first=repeat % len(counts))
            runs.append(run)
            sent.append(bytes_sent)
    return {
        "log": len(log),
        "redis_bytes": sent,
        "contenders": {
            name: {
                "judgments": runs[0][name].judgments,
                "cpu_us": [run[name].cpu for run in runs],
                "wall_us": [run[name].wall for run in runs],
                "cpu_ratio": [run[name].cpu / run[WORKER].cpu for run in runs],
                "wall_ratio": [run[name].wall / run[WORKER].wall for run in runs],
            }
            for name in counts
        },
    }


def figures(results: dict[str, Any]) -> list[Figure]:
    """Return CPU, rate and ratios of each contender, with the goals of the worker."""
    found = []
    for name, each in results["contenders"].items():
        cut = each["judgments"] < results["log"] * 0.9  # the first turn of a worker is not counted
        note = f"prefix of {each['judgments']:,}" if cut else ""
        most = 5.0 if name == WORKER else None
        cpu, wall = tuple(each["cpu_us"]), tuple(1e6 / wall for wall in each["wall_us"])
        found.append(Figure(name=f"{name}, CPU", unit="µs per judgment", values=cpu, at_most=most, note=note))
        found.append(Figure(name=f"{name}, rate", unit="judgments/s", values=wall, note=note))
    for name, each in results["contenders"].items():
        if name != WORKER:
            ratio = tuple(each["wall_ratio"])
            found.append(
                Figure(name=f"worker to {name}", unit="times the rate", values=ratio, at_least=GOALS.get(name))
            )
    sent = tuple(results["redis_bytes"])
    found.append(Figure(name="bytes sent to Redis", unit="bytes per judgment", values=sent, at_most=1000))
    return found


def choose_counts(judgments: int, *, prefix: int, plain: int, only: list[str] | None = None) -> dict[str, int]:
    """Return how many judgments each contender rates. Quix Streams and the plain agent rate a prefix."""
    sizes = {HAND: judgments, HAND_RATINGS: judgments, QUIX: min(prefix, judgments), PLAIN: min(plain, judgments)}
    chosen = {name for key, names in CHOICES.items() if only is None or key in only for name in names}
    return {name: size for name, size in sizes.items() if name in chosen} | {WORKER: judgments}


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
    parser.add_argument("--only", nargs="*", choices=list(CHOICES), help="peers to run (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    machine = describe_machine()
    counts = choose_counts(chosen.judgments, prefix=chosen.prefix, plain=chosen.plain, only=chosen.only)
    results = measure(counts, repeats=chosen.repeats)
    if chosen.json:
        emit(figures(results), as_json=True)
        return
    print(f"{machine}; broker, Redis and worker share it; medians of {chosen.repeats}\n")
    print(f"{'':32} {'judgments':>10} {'CPU µs':>8} {'µs':>8} {'per second':>11} {'CPU ratio':>10} {'ratio':>7}  goal")
    for name, each in results["contenders"].items():
        goal = f"{GOALS[name]}" if name in GOALS else "5 µs of CPU" if name == WORKER else ""
        cpu, wall, cpu_ratio, ratio = (median(each[key]) for key in ("cpu_us", "wall_us", "cpu_ratio", "wall_ratio"))
        print(
            f"{name:32} {each['judgments']:>10,} {cpu:>8.2f} {wall:>8.2f} {1e6 / wall:>11,.0f} "
            f"{cpu_ratio:>10.1f} {ratio:>7.1f}  {goal}"
        )
    print(f"\nbytes sent to Redis per judgment: {median(results['redis_bytes']):,.0f}")


if __name__ == "__main__":
    main()
