"""What the benchmarks of the stream share: a log of judgments, its way into Kafka, CPU time, and the machine."""

from __future__ import annotations

import os
import platform
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from aiokafka import AIOKafkaProducer

from streams.wire import topics
from streams.wire.events import EPOCH, Judgment, encode

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from streams.settings import Settings

CAMPAIGNS, SYSTEMS, JUDGES, SEGMENTS = 12, 20, 200, 3000
QUEUED = 100_000  # messages that a producer of librdkafka holds at most
PAGE = os.sysconf("SC_PAGE_SIZE")


def make_log(
    count: int,
    *,
    first_id: int = 0,
    campaigns: int = CAMPAIGNS,
    systems: int = SYSTEMS,
    start: datetime = EPOCH,
    step: timedelta = timedelta(seconds=1),
) -> list[tuple[bytes, bytes]]:
    """Return keys and values of judgments, from 200 judges and on 3,000 segments in each campaign.

    Their times begin at `start`, one `step` apart.
    """
    random = np.random.default_rng(1)
    first = random.integers(systems, size=count)
    second = (first + 1 + random.integers(systems - 1, size=count)) % systems
    ranks = random.integers(1, 4, size=(count, 2))
    judges, segments = random.integers(JUDGES, size=count), random.integers(SEGMENTS, size=count)
    return [
        (
            f"campaign-{k % campaigns}".encode(),
            encode(
                Judgment(
                    id=f"judgment-{first_id + k}",
                    campaign=f"campaign-{k % campaigns}",
                    segment=f"segment-{segments[k]}",
                    judge=f"judge-{judges[k]}",
                    systems=(f"system-{first[k]}", f"system-{second[k]}"),
                    ranks=(int(ranks[k, 0]), int(ranks[k, 1])),
                    at=start + k * step,
                )
            ),
        )
        for k in range(count)
    ]


async def publish(settings: Settings, records: list[tuple[bytes, bytes]]) -> None:
    """Append records to the log."""
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka, linger_ms=20, max_batch_size=2**20) as producer:
        for key, value in records:
            await producer.send(topics.JUDGMENTS.within(settings.namespace), value, key=key)


def publish_many(settings: Settings, records: Iterable[tuple[bytes, bytes]]) -> None:
    """Append records to the log with librdkafka, which takes a tenth of the time for a long log."""
    from confluent_kafka import Producer

    options = {"linger.ms": 50, "batch.size": 2**20, "queue.buffering.max.messages": 10 * QUEUED}
    producer = Producer({"bootstrap.servers": settings.kafka, "partitioner": "murmur2_random", **options})
    topic = topics.JUDGMENTS.within(settings.namespace)
    for number, (key, value) in enumerate(records):
        producer.produce(topic, value, key=key)
        if number % QUEUED == QUEUED - 1:
            producer.flush()
    producer.flush()


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process so far, with all its threads, also those that have ended."""
    # Linux makes the number of a process's CPU clock from its id: the macro MAKE_PROCESS_CPUCLOCK.
    return time.clock_gettime((~process << 3) | 2)


def memory_bytes(process: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE


def describe_machine() -> str:
    """Return the processor, its cores, the memory, the load and the version of Python."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "processor")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    python = f"Python {platform.python_version()}"
    return f"{model}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, {python}, load {load}"
