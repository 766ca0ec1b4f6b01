"""The real stack for a test: topics of its own, workers as processes, and waiting for conditions."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from streams.kafka.admin import create_topics
from streams.kafka.connection import consumer_group
from streams.kafka.records import raw_records
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.redis.store import RedisStore
from streams.wire import topics
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

JUDGESTREAM = Path(sys.executable).with_name("judgestream")


def done(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the one JSON object that a successful command printed."""
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@dataclass
class WorkerProcess:
    """A worker as an operator runs it."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self, text: str) -> bool:
        return text in self.log.read_text()

    def terminate(self) -> float:
        """Ask it to stop. Return the seconds until it ended."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_SECONDS)
        return time.monotonic() - began


@dataclass
class Stack:
    """One namespace on the real servers."""

    settings: Settings
    folder: Path
    workers: list[WorkerProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        create_topics(self.settings)
        self.store = RedisStore(self.settings.redis, namespace=self.settings.namespace)

    @property
    def environment(self) -> dict[str, str]:
        mine = {
            "JUDGESTREAM_KAFKA": self.settings.kafka,
            "JUDGESTREAM_REDIS": self.settings.redis,
            "JUDGESTREAM_NAMESPACE": self.settings.namespace,
            "JUDGESTREAM_JUDGE_KEY": self.settings.judge_key,
            "JUDGESTREAM_PARTITIONS": str(self.settings.partitions),
            "JUDGESTREAM_BATCH_RECORDS": str(self.settings.batch_records),
            "JUDGESTREAM_SNAPSHOT_SECONDS": str(self.settings.snapshot_seconds),
            "JUDGESTREAM_SESSION_TIMEOUT_SECONDS": str(self.settings.session_timeout_seconds),
        }
        return {name: value for name, value in os.environ.items() if not name.startswith("JUDGESTREAM_")} | mine

    def command(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command of judgestream to its end."""
        return subprocess.run(
            [JUDGESTREAM, *arguments],
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            cwd=self.folder,
        )

    def start_worker(self, *, script: str | None = None, **more: str) -> WorkerProcess:
        """Start `judgestream worker`, or a script that alters it first, with more in its environment."""
        command = [str(JUDGESTREAM), "worker"] if script is None else [sys.executable, "-c", script, "worker"]
        log = self.folder / f"worker-{len(self.workers)}.log"
        with log.open("wb") as stream:
            environment = self.environment | more
            process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream, cwd=self.folder)
        worker = WorkerProcess(process, log)
        self.workers.append(worker)
        return worker

    def stop(self) -> None:
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()
        self.store.close()

    def name(self, topic: topics.Topic) -> str:
        return topic.within(self.settings.namespace)

    def publish(
        self, records: Sequence[tuple[bytes | None, bytes | None]], topic: topics.Topic = topics.JUDGMENTS
    ) -> None:
        """Publish (key, value) records in order, and wait until the broker has them."""
        asyncio.run(self._publish(records, self.name(topic)))

    async def _publish(self, records: Sequence[tuple[bytes | None, bytes | None]], topic: str) -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=self.settings.kafka, enable_idempotence=True, max_request_size=topics.MAX_LOG_BYTES
        ) as producer:
            sent = [await producer.send(topic, value, key=key) for key, value in records]
            await asyncio.gather(*sent)

    def read(self, topic: topics.Topic) -> dict[int, list[Record]]:
        """Read all committed records that a topic holds now, by partition."""
        return asyncio.run(self._read(self.name(topic)))

    async def _read(self, topic: str) -> dict[int, list[Record]]:
        found: defaultdict[int, list[Record]] = defaultdict(list)
        async with AIOKafkaConsumer(
            bootstrap_servers=self.settings.kafka, max_partition_fetch_bytes=2**25, isolation_level="read_committed"
        ) as consumer:
            partitions = [TopicPartition(topic, number) for number in range(self.settings.partitions)]
            consumer.assign(partitions)
            ends = await consumer.end_offsets(partitions)
            for partition, beginning in (await consumer.beginning_offsets(partitions)).items():
                consumer.seek(partition, beginning)
            while any([await consumer.position(partition) < end for partition, end in ends.items()]):
                for partition, records in (await consumer.getmany(timeout_ms=200)).items():
                    found[partition.partition] += raw_records(records)
        return found

    def values(self, topic: topics.Topic) -> list[bytes]:
        """Read the values of a topic."""
        return [record.value or b"" for records in self.read(topic).values() for record in records]

    def records_read(self) -> int:
        """Count the log's records that the store knows as done."""
        heads = (self.store.read_partition(self._partition(number)) for number in range(self.settings.partitions))
        return sum(int(head.get("read", 0)) for head in heads)

    def acknowledged(self) -> dict[int, int]:
        """Return the offsets that the raters' group has committed to Kafka."""
        return asyncio.run(self._acknowledged())

    async def _acknowledged(self) -> dict[int, int]:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.settings.kafka)
        await admin.start()
        try:
            committed = await admin.list_consumer_group_offsets(consumer_group(self.settings))
            return {partition.partition: found.offset for partition, found in committed.items()}
        finally:
            await admin.close()

    def persisted(self) -> dict[int, int]:
        """Return the next offset that the store holds of each partition."""
        heads = {
            number: self.store.read_partition(self._partition(number)) for number in range(self.settings.partitions)
        }
        return {number: int(head.get("offset", 0)) for number, head in heads.items()}

    def _partition(self, number: int) -> str:
        return f"{self.name(topics.JUDGMENTS)}/{number}"

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until a condition holds. If it never does, show the logs of the workers."""
        wait_for(condition, lambda: f"{self.worker_logs()}\n{what}", pause=0.05)

    def worker_logs(self) -> str:
        """Return the end of each worker's log."""
        return "\n".join(f"--- {worker.log}\n{worker.log.read_text()[-3000:]}" for worker in self.workers)

    def wait_until_read(self, count: int) -> None:
        self.wait_for(lambda: self.records_read() >= count, f"{count} records read (now {self.records_read()})")
