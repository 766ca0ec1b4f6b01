"""Run workers on a backlog and take samples: how far they are, their CPU time and their memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.stream_log import cpu_seconds, memory_bytes
from streams.stores.redis.store import RedisStore
from streams.wire import topics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streams.settings import Settings

PAUSE_SECONDS = 0.1  # between two samples, far from the end
SHORT_SECONDS = 0.002  # before the first turn, and near the end: an edge is known to this time
NEAR_SECONDS = 0.5  # how long before the expected end the samples become dense
SETTLE_SECONDS = 3.0  # after a worker has opened its partitions: the others go on with theirs
PATIENCE_SECONDS = 600.0  # without any progress


class Sample(NamedTuple):
    """Where a run is at one moment. `read` counts the records of each partition that are rated and stored."""

    at: float
    read: tuple[int, ...]
    cpu: tuple[float, ...]  # seconds of each worker
    memory: tuple[int, ...]  # bytes of each worker
    written: int  # bytes that Redis has received from all its clients

    @property
    def total(self) -> int:
        return sum(self.read)


class Run(NamedTuple):
    """What one contender took, in microseconds per judgment."""

    cpu: float
    wall: float
    judgments: int


class Progress:
    """Reads how far the log is rated, in one round trip."""

    def __init__(self, settings: Settings) -> None:
        self.store = RedisStore(settings.redis, namespace=settings.namespace)
        topic = topics.JUDGMENTS.within(settings.namespace)
        self._heads = [self.store.keys.partition(f"{topic}/{number}") for number in range(settings.partitions)]

    def read(self) -> tuple[tuple[int, ...], int]:
        """Return the records that are rated and stored of each partition, and the bytes that Redis has received."""
        with self.store.client.redis.pipeline(transaction=False) as pipeline:
            for head in self._heads:
                pipeline.hget(head, "read")
            pipeline.info("stats")
            *counts, stats = pipeline.execute()
        return tuple(int(count or 0) for count in counts), int(stats["total_net_input_bytes"])

    def epochs(self) -> list[int]:
        """Return how often each partition has been opened by a worker."""
        with self.store.client.redis.pipeline(transaction=False) as pipeline:
            for head in self._heads:
                pipeline.hget(head, "epoch")
            return [int(epoch or 0) for epoch in pipeline.execute()]


@contextmanager
def running_worker(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """Run `judgestream worker` with everything on."""
    names = {
        "KAFKA": settings.kafka,
        "REDIS": settings.redis,
        "NAMESPACE": settings.namespace,
        "JUDGE_KEY": "benchmark",
    }
    worker = subprocess.Popen(
        [Path(sys.executable).with_name("judgestream"), "worker", "--log-level", "WARNING"],
        env=os.environ | {f"JUDGESTREAM_{name}": value for name, value in names.items()},
    )
    try:
        yield worker
    finally:
        worker.terminate()
        worker.wait()


def drain(settings: Settings, count: int, *, workers: int = 1) -> list[Sample]:
    """Run workers until `count` records are rated and stored. The first sample is that of the first stored turn."""
    with ExitStack() as stack:
        return take_samples(settings, [stack.enter_context(running_worker(settings)) for _ in range(workers)], count)


@contextmanager
def waiting_workers(settings: Settings, *, workers: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run workers that have opened all partitions of an empty log between them, and stand still (SIGSTOP).

    They must go on (SIGCONT) before the session timeout of their group.
    """
    progress = Progress(settings)
    with ExitStack() as stack:
        running: list[subprocess.Popen[bytes]] = []
        for number in range(workers):
            running.append(stack.enter_context(running_worker(settings)))
            moved = settings.partitions // (number + 1)  # that the newest worker has opened
            deadline = time.monotonic() + PATIENCE_SECONDS
            while sum(epoch > number for epoch in progress.epochs()) < moved:
                if running[-1].poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("a worker ended, or the workers did not open the partitions in time")
                time.sleep(PAUSE_SECONDS)
            time.sleep(SETTLE_SECONDS)
        for worker in running:
            worker.send_signal(signal.SIGSTOP)
        try:
            yield running
        finally:
            for worker in running:
                worker.send_signal(signal.SIGCONT)


def take_samples(settings: Settings, running: Sequence[subprocess.Popen[bytes]], count: int) -> list[Sample]:
    """Return samples until `count` records are rated and stored. The first one is that of the first stored turn."""
    progress = Progress(settings)
    samples: list[Sample] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not samples or samples[-1].total < count:
        if any(worker.poll() is not None for worker in running) or time.monotonic() > deadline:
            raise SystemExit("a worker ended, or rated nothing more, before the log was rated")
        read, written = progress.read()
        sample = Sample(
            time.perf_counter(),
            read,
            tuple(cpu_seconds(worker.pid) for worker in running),
            tuple(memory_bytes(worker.pid) for worker in running),
            written,
        )
        if not sample.total:
            time.sleep(SHORT_SECONDS)
            continue
        if not samples or sample.total > samples[-1].total:
            deadline = time.monotonic() + PATIENCE_SECONDS
        samples.append(sample)
        time.sleep(pause(samples, count))
    return samples


def pause(samples: list[Sample], count: int) -> float:
    """Return how long to wait for the next sample: short if the end is near at the pace so far."""
    first, last = samples[0], samples[-1]
    pace = (last.total - first.total) / max(last.at - first.at, 1e-9)
    if not pace:
        return SHORT_SECONDS
    left = (count - last.total) / pace
    return SHORT_SECONDS if left < NEAR_SECONDS else min(PAUSE_SECONDS, left - NEAR_SECONDS + SHORT_SECONDS)


def between(first: Sample, last: Sample) -> Run:
    """Return what all workers took together between two samples."""
    judgments = last.total - first.total
    return Run((sum(last.cpu) - sum(first.cpu)) / judgments * 1e6, (last.at - first.at) / judgments * 1e6, judgments)
