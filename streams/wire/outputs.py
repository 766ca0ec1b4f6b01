"""A record on its way to an output topic, encoded."""

from __future__ import annotations

from typing import NamedTuple


class Output(NamedTuple):
    """A record for an output topic."""

    topic: str
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None  # None: the key decides
