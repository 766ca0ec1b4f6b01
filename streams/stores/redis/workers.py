"""The reports of the workers in Redis: one hash, with the time of each report on the clock of Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from streams.stores.workers import FORGET_SECONDS, WorkerReport

if TYPE_CHECKING:
    from streams.stores.redis.client import Client
    from streams.stores.redis.keys import Keys

FORGET_MS = round(FORGET_SECONDS * 1000)


class RedisWorkers:
    """The part of the Redis store that keeps the reports. Old ones are removed with each new one."""

    client: Client
    keys: Keys

    def report_worker(self, report: WorkerReport) -> None:
        """Replace the report of a worker."""
        arguments = [FORGET_MS, report.worker, msgspec.json.encode(report)]
        self.client.run("report_worker", keys=[self.keys.workers], args=arguments)

    def remove_worker(self, worker: str) -> None:
        """Remove the report of a worker that stops."""
        with self.client.translated_errors():
            self.client.redis.hdel(self.keys.workers, worker)

    def read_workers(self) -> list[WorkerReport]:
        """Return the reports that are not forgotten, by worker."""
        now, fields = self.client.run("read_workers", keys=[self.keys.workers], args=[])
        found = []
        for value in fields[1::2]:
            written, _, encoded = value.partition(b" ")
            report = msgspec.json.decode(encoded, type=WorkerReport)
            found.append(replace(report, age=(now - int(written)) / 1000))
        return sorted((each for each in found if each.age <= FORGET_SECONDS), key=lambda each: each.worker)
