"""Outputs that a former owner of a partition has emitted late, in Redis: one key, with a new word for each report."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from streams.stores.redis.client import fenced_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.errors import Fenced
    from streams.stores.base import Lease
    from streams.stores.redis.client import Client
    from streams.stores.redis.keys import Keys


class RedisLate:
    """The part of the Redis store that knows late outputs. The reports are not fenced: a former owner writes them."""

    client: Client
    keys: Keys

    def check_lease(self, lease: Lease) -> None:
        """Raise Fenced if the partition has a new owner."""
        (error,) = self.check_leases([lease])
        if error is not None:
            raise error

    def check_leases(self, leases: Sequence[Lease]) -> list[Fenced | None]:
        """Return the error of each lease whose partition has a new owner, in one round trip."""
        with self.client.translated_errors():
            epochs: list[bytes | None] = self.client.call(
                [("HGET", self.keys.partition(lease.partition), "epoch") for lease in leases]
            )
        return [
            None if epoch is None or int(epoch) <= lease.epoch else fenced_error(lease, epoch)
            for lease, epoch in zip(leases, epochs, strict=True)
        ]

    def report_late(self, partition: str) -> None:
        """Write down that a former owner has emitted outputs after it had lost a partition."""
        with self.client.translated_errors():
            self.client.redis.set(self.keys.partition(partition, "late"), uuid4().hex)

    def read_late(self, partition: str) -> str:
        """Return the report of late outputs, or nothing."""
        with self.client.translated_errors():
            report: bytes | None = self.client.redis.get(self.keys.partition(partition, "late"))  # type: ignore[assignment]
        return (report or b"").decode()

    def clear_late(self, partition: str, report: str) -> None:
        """Remove a report of late outputs, unless there is a newer one."""
        self.client.run("clear_late", keys=[self.keys.partition(partition, "late")], args=[report])
