"""Records that are left raw are the same as those that aiokafka copies, and another version is left alone."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import aiokafka
import pytest
from aiokafka import TopicPartition
from aiokafka.consumer.fetcher import Fetcher, FetchResult, PartitionRecords
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords

from streams.kafka.consumers import FetchedRecord
from streams.kafka.raw_records import TESTED_SERIES, leave_records_raw
from streams.kafka.records import raw_records, record_block
from streams.wire.outputs import FORWARDED_FROM

SOURCE = TopicPartition("judgments.v1", 0)
READ_COMMITTED = 1


def batch() -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=0,
        batch_size=10_000,
    )  # fmt: skip
    headers: list[tuple[str, bytes]] = [(FORWARDED_FROM, b"judgments.v1/1/7")]
    builder.append(0, timestamp=1_700_000_000_123, key=b"c", value=b"{}", headers=[])
    builder.append(1, timestamp=1_700_000_000_456, key=None, value=b"x" * 300, headers=headers)
    builder.append(2, timestamp=1_700_000_000_789, key=b"d", value=None, headers=[])
    return bytes(builder.build())


def consumer() -> Any:
    """Return what a consumer keeps of a response of the broker, as the Fetcher makes it."""
    records = PartitionRecords(SOURCE, MemoryRecords(batch()), [], 0, None, None, True, READ_COMMITTED)
    state = SimpleNamespace(paused=False, position=0, consumed_to=lambda position: None)
    assignment = SimpleNamespace(active=True, state_value=lambda _: state)
    found = FetchResult(SOURCE, assignment=assignment, partition_records=records, backoff=0)
    return SimpleNamespace(_fetcher=SimpleNamespace(_records=OrderedDict({SOURCE: found})))


def received(client: Any) -> list[FetchedRecord]:
    found: list[FetchedRecord] = client._fetcher._records[SOURCE].getall()
    return found


def test_raw_records_are_those_that_aiokafka_copies() -> None:
    raw = consumer()
    leave_records_raw(raw)
    copied, left = received(consumer()), received(raw)
    assert type(left[0]) is not type(copied[0])
    assert len(left) == 3
    assert raw_records(left) == raw_records(copied)
    assert [*record_block(left).values()] == raw_records(copied)
    assert [each.timestamp for each in left] == [each.timestamp for each in copied]


def test_records_that_come_later_are_raw_too() -> None:
    client, later = consumer(), consumer()
    leave_records_raw(client)
    client._fetcher._records[SOURCE] = later._fetcher._records[SOURCE]
    assert type(received(client)[0]).__name__ != "ConsumerRecord"


def test_the_fetcher_keeps_what_it_has_received_in_an_ordered_dictionary() -> None:
    assert "self._records = collections.OrderedDict()" in inspect.getsource(Fetcher.__init__)


def test_another_version_and_an_error_of_the_broker_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert aiokafka.__version__.startswith(TESTED_SERIES)
    leave_records_raw(SimpleNamespace(_fetcher=SimpleNamespace(_records=OrderedDict({SOURCE: 1}))))
    leave_records_raw(SimpleNamespace())
    monkeypatch.setattr(aiokafka, "__version__", "0.15.0")
    client = consumer()
    leave_records_raw(client)
    assert type(received(client)[0]).__name__ == "ConsumerRecord"
