"""A copy of the log in another namespace, without ids of judges and without the judges that were forgotten.

Each partition is copied record by record, in order. Whatever is in the target already
is read and compared, so a copy that was interrupted goes on, and a copy that is complete is checked.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streams.errors import TopicError
from streams.kafka.admin import count_log_partitions, create_topics
from streams.kafka.partitions import Partition
from streams.kafka.producers import Producer
from streams.kafka.reading import open_reader
from streams.kafka.records import raw_records
from streams.replay.erasing import Erasure
from streams.replay.publishing import PartitionBatches, SentRecords
from streams.wire.topics import JUDGMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streams.kafka.reading import Reader
    from streams.settings import Settings
    from streams.stores import Store

    KeyAndValue = tuple[bytes | None, bytes | None]

PATIENCE_SECONDS = 30.0
CHUNK = 5000


@dataclass
class CopyCounts:
    """How far a copy is."""

    records: int = 0  # of the log
    there: int = 0  # were in the target before
    sent: int = 0
    moved: list[str] = field(default_factory=list)  # partitions in which records have other offsets in the copy


def copy_log(
    settings: Settings, target: Settings, store: Store, *, progress: Callable[[str, int, int], None]
) -> tuple[CopyCounts, Erasure]:
    """Copy the log to the namespace of `target`, up to its present end. The topics there are created if needed.

    `progress` is called with the step, the records done and all records. Raise TopicError if the target has other
    records.
    """
    partitions = count_log_partitions(settings)
    create_topics(replace(target, partitions=partitions))
    if (found := count_log_partitions(target)) != partitions:
        raise TopicError(
            f"{JUDGMENTS.within(target.namespace)} has {found} partitions, and the log has {partitions}; "
            "give a namespace without topics, they are created"
        )
    source, copy = (
        [Partition(JUDGMENTS.within(each.namespace), number) for number in range(partitions)]
        for each in (settings, target)
    )
    erasure, counts = Erasure(settings.judge_key, max_bytes=settings.max_record_bytes), CopyCounts()
    homes = _Homes(store)
    with open_reader(settings) as reader, open_reader(target) as there, _open_writer(target) as write:
        starts, ends = reader.beginnings(source), reader.ends(source)
        total = sum(ends.values()) - sum(starts.values())
        done = 0
        for partition, records in reader.read(starts, ends):
            for record in raw_records(records):
                erasure.learn(record, is_home=partial(homes.is_home, partition))
            done += len(records)
            progress(f"reading {partition}", done, total)
        for mine, other in zip(source, copy, strict=True):
            ready = _existing(there, other)
            first = 0
            for _, records in reader.read({mine: starts[mine]}, {mine: ends[mine]}, max_records=CHUNK):
                if any(record.offset != first + place for place, record in enumerate(records)):
                    counts.moved += [str(mine)] * (str(mine) not in counts.moved)
                first += len(records)
                copied = [erasure.copy(record, is_home=partial(homes.is_home, mine)) for record in raw_records(records)]
                new = _without_existing(copied, ready, other)
                write(other.number, new)
                counts.records += len(records)
                counts.there += len(records) - len(new)
                counts.sent += len(new)
                progress(f"copying {mine}", counts.records, total)
            if next(ready, None) is not None:
                raise _different(other, first)
    return counts, erasure


class _Homes:
    """The partitions of the campaigns. A record that came elsewhere was forwarded there, and is copied from there."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, str | None] = {}

    def is_home(self, partition: Partition, campaign: str) -> bool:
        """Return whether a partition is that of a campaign. One that is not stored has no other."""
        if campaign not in self._known:
            self._known[campaign] = self._store.read_head(campaign).get("partition")
        return self._known[campaign] in (None, str(partition))


def _existing(reader: Reader, partition: Partition) -> Iterator[KeyAndValue]:
    """Yield key and value of each record that the target has."""
    (start,), (end,) = reader.beginnings([partition]).values(), reader.ends([partition]).values()
    for _, records in reader.read({partition: start}, {partition: end}, max_records=CHUNK):
        yield from ((record.key, record.value) for record in records)


def _without_existing(
    copied: Sequence[KeyAndValue], existing: Iterator[KeyAndValue], partition: Partition
) -> Sequence[KeyAndValue]:
    """Return the records that the target has not. Raise TopicError if it has another one in the place of one."""
    for place, record in enumerate(copied):
        found = next(existing, None)
        if found is None:
            return copied[place:]
        if found != record:
            raise _different(partition, place)
    return ()


def _different(partition: Partition, place: int) -> TopicError:
    return TopicError(
        f"{partition} is no copy of the log (record {place} differs): a worker or a producer has written to it, or a "
        "judge was forgotten since. Delete its topics, or give another namespace"
    )


@contextmanager
def _open_writer(settings: Settings) -> Iterator[Callable[[int, Sequence[KeyAndValue]], None]]:
    """Return a function that appends records to a partition, and returns when the broker has them."""
    with asyncio.Runner() as runner:

        async def start() -> Producer:
            producer = Producer(settings, patience=PATIENCE_SECONDS)
            await producer.start()
            return producer

        async def append(partition: int, records: Sequence[KeyAndValue]) -> None:
            for record in records:
                await batches.append(partition, *record)
            await batches.flush()
            await batches.settle()

        producer = runner.run(start())
        batches = PartitionBatches(producer, SentRecords())
        try:
            yield lambda partition, records: runner.run(append(partition, records))
        finally:
            runner.run(producer.stop())
