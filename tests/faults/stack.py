"""The stack of a test that breaks something: settings of its own, and one hash to compare with an undisturbed run."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import redis
from aiokafka import AIOKafkaProducer

from streams.errors import StoreUnavailable
from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.stores.memory import MemoryStore
from streams.wire import topics
from tests.builders import log_reader
from tests.integration.stack import Stack, WorkerProcess
from tests.state_hash import settled_meta, state_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streams.settings import Settings


@dataclass
class FaultStack(Stack):
    """One namespace, whose workers may be given other settings than the tests use themselves."""

    more: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | self.more

    # -- breaking ---------------------------------------------------------------------------------------

    def kill(self, worker: WorkerProcess) -> None:
        """End a worker as a crash would."""
        worker.process.kill()
        worker.process.wait()

    def kill_workers(self, times: int, *, records: int) -> None:
        """Kill workers one after the other, each before it has read all records. Then one more reads the rest."""
        read = 0
        for _ in range(times):
            worker = self.start_worker()
            self.wait_until_read(read + 300)
            self.kill(worker)
            read = self.caught_midway(records)
        self.start_worker()
        self.wait_until_read(records)

    def caught_midway(self, total: int) -> int:
        """Return the number of records read so far. It must be some and not all, or the fault hit nothing."""
        read = self.records_read()
        assert 0 < read < total, f"the fault came when {read} of {total} records were read, and shows nothing"
        return read

    def redis(self) -> redis.Redis:
        """Return a client of the stack's Redis."""
        return redis.Redis.from_url(self.settings.redis)

    def empty_redis(self) -> None:
        """Lose all that Redis holds."""
        with self.redis() as client:
            client.flushall()

    def send(self, partition: int, records: Sequence[tuple[bytes | None, bytes | None]]) -> None:
        """Publish to one partition of the log, whatever the keys."""
        asyncio.run(self._send(partition, records))

    async def _send(self, partition: int, records: Sequence[tuple[bytes | None, bytes | None]]) -> None:
        async with AIOKafkaProducer(bootstrap_servers=self.settings.kafka, enable_idempotence=True) as producer:
            for key, value in records:
                await producer.send_and_wait(self.name(topics.JUDGMENTS), value, key=key, partition=partition)

    # -- waiting ----------------------------------------------------------------------------------------

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until a condition holds, also while Redis is away. Fail at once if no worker is left."""

        def holds_or_nobody_is_left() -> bool:
            with suppress(StoreUnavailable):
                if condition():
                    return True
            codes = [worker.process.poll() for worker in self.workers]
            assert None in codes, f"{what}: no worker is left, exit codes {codes}\n{self.worker_logs()}"
            return False

        super().wait_for(holds_or_nobody_is_left, what)

    def wait_until_read(self, count: int) -> None:
        self.wait_for(lambda: self.records_read() >= count, f"{count} records read")

    # -- comparing --------------------------------------------------------------------------------------

    @property
    def partitions(self) -> list[str]:
        return [self._partition(number) for number in range(self.settings.partitions)]

    def hash(self) -> str:
        """Hash what Redis holds."""
        return state_hash(self.store, self.partitions)

    def undisturbed(self, before: Mapping[int, int] | None = None, settings: Settings | None = None) -> MemoryStore:
        """Run the log that Kafka holds, or what lies before some offsets of it, in process and in one go."""
        store = MemoryStore()
        options = ProcessorOptions.from_settings(settings or self.settings)
        for number, records in sorted(self.read(topics.JUDGMENTS).items()):
            past = log_reader(records)
            processor, _ = Processor.open(self.name(topics.JUDGMENTS), number, store, options, read_log=past)
            if part := records[: len(records) if before is None else before[number]]:
                processor.process(part)
                processor.rate_again()
        return store

    def assert_undisturbed(self, *, records: int | None = None) -> MemoryStore:
        """Compare all that Redis holds with an undisturbed run of the same log, and count its records."""
        expected = self.undisturbed()
        read = sum(int(expected.read_partition(partition).get("read", 0)) for partition in self.partitions)
        assert records is None or read == records
        self.assert_same(expected)
        return expected

    def assert_same(self, expected: MemoryStore) -> None:
        assert self.hash() == state_hash(expected, self.partitions), "\n".join(
            ["the state is not that of an undisturbed run:", *self._differences(expected), self.worker_logs()]
        )

    def _differences(self, expected: MemoryStore) -> list[str]:
        found = []
        for partition in self.partitions:
            heads = self.store.read_partition(partition), expected.read_partition(partition)
            found.append(f"{partition}: {heads[0]}, undisturbed {heads[1]}")
        for campaign in expected.list_campaigns(self.partitions):
            here, there = self.store.read(campaign), expected.read(campaign)
            if here is None or there is None:
                found.append(f"{campaign}: {'missing' if here is None else 'unexpected'}")
                continue
            metas = settled_meta(here.meta), settled_meta(there.meta)
            if metas[0] != metas[1]:
                found.append(f"{campaign}: {metas[0]!r}, undisturbed {metas[1]!r}")
            tables = [table for table, rows in there.tables.items() if rows != here.tables[table]]
            found.append(f"{campaign}: tables that differ: {tables}, seen: {len(here.seen)} and {len(there.seen)}")
        return found

    def applied(self) -> set[str]:
        """Return the ids of the judgments and commands that the campaigns remember."""
        stored = (self.store.read(campaign) for campaign in self.store.list_campaigns(self.partitions))
        return {judgment for each in stored if each is not None for judgment in each.seen}


def state_of(worker: WorkerProcess) -> str:
    """Return the state letter of a process: T if it is stopped."""
    return Path(f"/proc/{worker.process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def resume(worker: WorkerProcess) -> None:
    """Resume a stopped worker."""
    os.kill(worker.process.pid, signal.SIGCONT)


def resident_mb(worker: WorkerProcess) -> float:
    """Return the resident memory of a worker in MB."""
    for line in Path(f"/proc/{worker.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise AssertionError(f"process {worker.process.pid} has no VmRSS")
