"""One worker with all features, compared with a plain Faust agent that does the same job, on a real Kafka and Redis.

Both read the same kind of log in one run. The result is the ratio.

    python benchmarks/stream.py --judgments 500000
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
from datetime import timedelta
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from aiokafka import AIOKafkaProducer  # noqa: E402

from deploy.servers import Servers  # noqa: E402
from streams.kafka.admin import create_topics  # noqa: E402
from streams.settings import Settings  # noqa: E402
from streams.stores.redis.store import RedisStore  # noqa: E402
from streams.wire import topics  # noqa: E402
from streams.wire.events import EPOCH, Judgment, encode  # noqa: E402

CAMPAIGNS, SYSTEMS, JUDGES, SEGMENTS = 12, 20, 200, 3000


def log(count: int) -> list[tuple[bytes, bytes]]:
    random = np.random.default_rng(1)
    first = random.integers(SYSTEMS, size=count)
    second = (first + 1 + random.integers(SYSTEMS - 1, size=count)) % SYSTEMS
    ranks = random.integers(1, 4, size=(count, 2))
    judges, segments = random.integers(JUDGES, size=count), random.integers(SEGMENTS, size=count)
    return [
        (
            f"campaign-{k % CAMPAIGNS}".encode(),
            encode(
                Judgment(
                    id=f"judgment-{k}",
                    campaign=f"campaign-{k % CAMPAIGNS}",
                    segment=f"segment-{segments[k]}",
                    judge=f"judge-{judges[k]}",
                    systems=(f"system-{first[k]}", f"system-{second[k]}"),
                    ranks=(int(ranks[k, 0]), int(ranks[k, 1])),
                    at=EPOCH + timedelta(seconds=k),
                )
            ),
        )
        for k in range(count)
    ]


async def publish(settings: Settings, records: list[tuple[bytes, bytes]]) -> None:
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka, linger_ms=20, max_batch_size=2**20) as producer:
        for key, value in records:
            await producer.send(topics.JUDGMENTS.within(settings.namespace), value, key=key)


def run_worker(settings: Settings, count: int) -> float:
    """Return the judgments a second of one worker, from its first batch to its last."""
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
        began = time.perf_counter()
        while (now := done()) < count:
            if worker.poll() is not None:
                raise SystemExit("the worker ended before the log did")
            time.sleep(0.05)
        return (now - start) / (time.perf_counter() - began)
    finally:
        worker.terminate()
        worker.wait()


def run_plain(settings: Settings, count: int) -> float:
    """Return the judgments a second of the plain agent, from its first record to its last."""
    command = [
        sys.executable,
        str(ROOT / "benchmarks/plain_agent.py"),
        topics.JUDGMENTS.within(settings.namespace),
        str(count),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as agent:
        try:
            assert agent.stdout is not None
            result = next(line for line in agent.stdout if line.startswith("{"))  # Faust draws a spinner before it
            return float(json.loads(result)["rate"])
        finally:
            agent.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--judgments", type=int, default=500_000, help="judgments for the worker (default: %(default)s)"
    )
    parser.add_argument(
        "--plain", type=int, default=10_000, help="judgments for the plain agent (default: %(default)s)"
    )
    chosen = parser.parse_args()
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder))
        try:
            os.environ.update(servers.start())
            rates = {}
            for name, count, run in (("plain", chosen.plain, run_plain), ("worker", chosen.judgments, run_worker)):
                settings = Settings(
                    kafka=os.environ["JUDGESTREAM_KAFKA"], redis=os.environ["JUDGESTREAM_REDIS"], namespace=name
                )
                create_topics(settings)
                asyncio.run(publish(settings, log(count)))
                rates[name] = run(settings, count)
        finally:
            servers.stop()
    print(f"plain Faust agent   {rates['plain']:>9,.0f} judgments a second")
    print(f"judgestream worker  {rates['worker']:>9,.0f} judgments a second")
    print(f"ratio               {rates['worker'] / rates['plain']:>9.1f}")


if __name__ == "__main__":
    main()
