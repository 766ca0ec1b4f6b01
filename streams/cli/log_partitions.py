"""The partitions of the log, as the broker knows them, and what their heads say of misrouted records."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from streams.settings import Settings
    from streams.stores import Store

PARTITIONER = (
    "publish with the campaign as the key, and with librdkafka set partitioner=murmur2_random "
    '(docs/operations.md, "When records are on the wrong partition")'
)


def name_partitions(settings: Settings) -> Iterator[str]:
    """Yield the names of the log's partitions. The broker is asked when the first name is needed.

    If it does not answer, the setting gives the number.
    """
    from streams.errors import JudgestreamError
    from streams.kafka.admin import count_log_partitions
    from streams.wire.topics import JUDGMENTS

    try:
        count = count_log_partitions(settings)
    except JudgestreamError:
        count = settings.partitions
    topic = JUDGMENTS.within(settings.namespace)
    yield from (f"{topic}/{number}" for number in range(count))


def describe_forwarded(store: Store, partitions: Iterable[str]) -> str:
    """Return how many records came on the wrong partition, and on which ones; nothing if there are none."""
    counts = {name: int(store.read_partition(name).get("forwarded", 0)) for name in partitions}
    found = {name: count for name, count in counts.items() if count}
    if not found:
        return ""
    places = ", ".join(f"{name} ({count:,})" for name, count in found.items())
    return f"{sum(found.values()):,} records came on the wrong partition and were forwarded: {places}"
