"""The hash of a state: the same for the same log, on any store and in any batches, and for nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.pipeline.options import ProcessorOptions
from streams.pipeline.processor import Processor
from streams.pipeline.record import Record
from streams.settings import Settings
from streams.stores.memory import MemoryStore
from streams.wire.events import encode
from tests.builders import crowd_log
from tests.state_hash import state_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.stores import Store

TOPIC = "judgments.v1"
LOG = [Record(number, None, encode(entry)) for number, entry in enumerate(crowd_log(60, campaigns=2, seed=3))]
LOG.append(Record(len(LOG), None, b"{"))


def hashed(log: Sequence[Record], store: Store, *, batch: int = 1000, topic: str = TOPIC) -> str:
    for first in range(0, len(log), batch):
        # A new owner each time, so that the epoch differs too.
        processor, _ = Processor.open(topic, 0, store, ProcessorOptions.from_settings(Settings(judge_key="key")))
        processor.process(log[first : first + batch])
    return state_hash(store, [f"{topic}/0", f"{topic}/1"])


def test_the_same_log_gives_the_same_hash_on_any_store_in_any_batches(store: Store) -> None:
    expected = hashed(LOG, MemoryStore())
    assert hashed(LOG, store, batch=7) == expected
    assert hashed(LOG, MemoryStore(), topic=f"elsewhere.{TOPIC}") == expected


def test_every_record_changes_the_hash(store: Store) -> None:
    assert len({hashed(LOG[:count], MemoryStore()) for count in range(len(LOG) + 1)}) == len(LOG) + 1
    assert hashed(LOG[:-1], store) != hashed(LOG, MemoryStore()), "a bad record is counted too"


def test_a_score_is_part_of_the_state() -> None:
    store = MemoryStore()
    before = hashed(LOG, store)
    store._campaigns["campaign-0"].scores["system-1"] += 1e-12
    assert state_hash(store, [f"{TOPIC}/0", f"{TOPIC}/1"]) != before


@pytest.mark.parametrize("count", ["read", "rejected"])
def test_a_count_of_a_partition_is_part_of_the_state(count: str) -> None:
    store = MemoryStore()
    before = hashed(LOG, store)
    store._partitions[f"{TOPIC}/0"].head[count] = "1000"
    assert state_hash(store, [f"{TOPIC}/0", f"{TOPIC}/1"]) != before
