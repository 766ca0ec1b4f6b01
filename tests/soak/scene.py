"""Everything that a soak has started, and what its events may do to it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete

from deploy.servers import Servers
from streams.wire import topics
from tests.faults.stack import FaultStack
from tests.integration.monitors import MonitorProcess
from tests.soak.errors import SoakError
from tests.soak.fleet import Fleet
from tests.soak.liveness import Liveness
from tests.soak.log_copy import LogCopy
from tests.soak.places import Places
from tests.soak.records import Author
from tests.soak.redis_nodes import RedisNodes
from tests.soak.traffic import Traffic


@dataclass(frozen=True)
class Later:
    """Something that is to be done at a time: mostly the end of a fault."""

    at: float
    what: str
    do: Callable[[], None]


@dataclass
class Scene:
    """The servers, the processes, the load and the copy of the log."""

    folder: Path
    seed: int
    places: Places
    kafka: Servers
    redis: RedisNodes
    stack: FaultStack
    fleet: Fleet
    monitor: MonitorProcess
    author: Author
    traffic: Traffic
    copy: LogCopy
    kafka_runs: bool = True
    missing: dict[int, list[range]] = field(default_factory=dict)  # offsets that were deleted before they were read
    deleted: dict[int, int] = field(default_factory=dict)  # where the log of a short partition begins
    later: list[Later] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.chance = random.Random(f"events {self.seed}")
        self.liveness = Liveness(self.fleet)

    @property
    def topic(self) -> str:
        """The name of the log."""
        return topics.JUDGMENTS.within(self.places.namespace)

    def head(self, partition: int) -> str:
        """Return the name of a partition as the store has it."""
        return f"{self.topic}/{partition}"

    def note(self, text: str) -> None:
        """Print and keep a line about what happens."""
        line = f"{time.monotonic() - self.began:7.1f} s  {text}"
        self.journal.append(line)
        print(line, flush=True)

    def after(self, seconds: float, what: str, do: Callable[[], None]) -> None:
        """Do something later."""
        self.later.append(Later(time.monotonic() + seconds, what, do))

    def do_what_is_due(self, *, all_of_it: bool = False) -> None:
        """Do what was put off until now, or all that was put off."""
        for each in sorted(self.later, key=lambda each: each.at):
            if all_of_it or each.at <= time.monotonic():
                self.later.remove(each)
                self.note(each.what)
                each.do()

    def check(self) -> None:
        """Raise SoakError if a process or a thread has ended by itself, or is not alive."""
        self.fleet.check()
        self.liveness.probe()
        if (code := self.monitor.process.poll()) is not None:
            raise SoakError(f"the monitor ended by itself with code {code}: {self.monitor.log}")
        for name, failure in (("load", self.traffic.failure), ("copy of the log", self.copy.failure)):
            if failure is not None:
                raise SoakError(f"the {name} of the soak itself failed: {failure!r}") from failure

    # -- the log ----------------------------------------------------------------------------------------

    def delete_before(self, partition: int, offset: int) -> None:
        """Delete the records of a partition before an offset."""
        asyncio.run(self._delete_before(TopicPartition(self.topic, partition), offset))
        self.deleted[partition] = offset

    async def _delete_before(self, partition: TopicPartition, offset: int) -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.stack.settings.kafka)
        await admin.start()
        try:
            await admin.delete_records({partition: RecordsToDelete(before_offset=offset)})
        finally:
            await admin.close()

    def log_ends(self) -> dict[int, int]:
        """Return where each partition of the log ends."""
        return asyncio.run(self._log_ends())

    async def _log_ends(self) -> dict[int, int]:
        async with AIOKafkaConsumer(bootstrap_servers=self.stack.settings.kafka) as consumer:
            partitions = [TopicPartition(self.topic, number) for number in range(self.places.partitions)]
            return {found.partition: end for found, end in (await consumer.end_offsets(partitions)).items()}
