"""The gaps of a partition in Redis: a hash of START-END and when the gap was found and accepted (JSON)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from streams.stores.gaps import Gap, gaps_to_show, new_gap
from streams.stores.redis.client import fenced_error

if TYPE_CHECKING:
    from streams.stores.base import Lease
    from streams.stores.redis.client import Client
    from streams.stores.redis.keys import Keys


class RedisGaps:
    """The part of the Redis store that knows the gaps in the log."""

    client: Client
    keys: Keys

    def report_gap(self, lease: Lease, start: int, end: int) -> Gap:
        """Write down that records were deleted before they were read."""
        gap = new_gap(start, end)
        status, detail = self.client.run(
            "gap",
            keys=[self.keys.partition(lease.partition), self.keys.partition(lease.partition, "gaps")],
            args=[lease.epoch, start, gap.field, msgspec.json.encode(gap)],
        )
        if status == b"FENCED":
            raise fenced_error(lease, detail)
        return msgspec.json.decode(detail, type=Gap)

    def accept_gap(self, partition: str, start: int, end: int) -> bool:
        """Write down an operator's word that the partition goes on without these records."""
        gaps, field = self.keys.partition(partition, "gaps"), new_gap(start, end).field
        with self.client.translated_errors():
            stored: bytes | None = self.client.redis.hget(gaps, field)  # type: ignore[assignment]
            if stored is None:
                return False
            gap = msgspec.json.decode(stored, type=Gap)
            if gap.accepted is None:
                accepted = replace(gap, accepted=datetime.now(UTC))
                self.client.redis.hset(gaps, field, msgspec.json.encode(accepted))
        return True

    def read_gaps(self, partition: str) -> list[Gap]:
        """Return the gaps that were accepted, and the one at which the partition is stopped."""
        with self.client.translated_errors():
            pipeline = self.client.redis.pipeline(transaction=False)
            pipeline.hget(self.keys.partition(partition), "offset")
            pipeline.hvals(self.keys.partition(partition, "gaps"))
            offset, stored = pipeline.execute()
        return gaps_to_show((msgspec.json.decode(value, type=Gap) for value in stored), offset=int(offset or 0))
