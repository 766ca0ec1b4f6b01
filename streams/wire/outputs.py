"""A record on its way to an output topic, encoded."""

from __future__ import annotations

from typing import NamedTuple

# Header of a record that a worker has copied to the partition of its campaign: the place of the original.
FORWARDED_FROM = "judgestream-forwarded-from"


class Output(NamedTuple):
    """A record for an output topic. An empty value is a tombstone: it removes the key from a compacted topic."""

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None  # None: the key decides

    @property
    def sent_value(self) -> bytes | None:
        """The value as Kafka gets it."""
        return self.value or None
