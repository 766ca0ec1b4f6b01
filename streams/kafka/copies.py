"""The records that workers have forwarded, found in the log by their headers."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import TYPE_CHECKING

from streams.kafka.admin import find_partitions
from streams.kafka.reading import open_reader
from streams.pipeline.routing import Copies
from streams.wire.outputs import FORWARDED_FROM
from streams.wire.topics import JUDGMENTS, MAX_LOG_BYTES

if TYPE_CHECKING:
    from streams.settings import Settings


def find_copies(settings: Settings) -> Copies:
    """Read the whole log for copies, in a thread that has no event loop of its own."""
    copies = Copies()
    partitions = asyncio.run(find_partitions(settings, JUDGMENTS))[JUDGMENTS.name]
    with open_reader(settings, max_fetch_bytes=MAX_LOG_BYTES) as reader:
        for partition, records in reader.read(reader.beginnings(partitions), reader.ends(partitions)):
            for record in filter(attrgetter("headers"), records):
                for name, place in record.headers:
                    if name == FORWARDED_FROM:
                        copies.add(record.key or b"", str(partition), origin=place)
    return copies
